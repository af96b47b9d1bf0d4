#include "zoo/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;

std::unique_ptr<JsonDocument> parse(std::string_view text) {
  return JsonDocument::parse(text, "test.json");
}

TEST(Json, KeepsKindsAndOrder) {
  const auto document = parse(R"({"z": null, "a": true, "m": [1, -2.5, "x", {}]})");
  const JsonValue& root = document->root();
  ASSERT_EQ(root.items.size(), 3u);
  EXPECT_EQ(root.items[0]->key, "z");
  EXPECT_EQ(root.items[1]->key, "a");
  EXPECT_TRUE(root.find("z")->is(Kind::null));
  EXPECT_TRUE(root.find("a")->boolean);
  const JsonValue& m = *root.find("m");
  ASSERT_EQ(m.items.size(), 4u);
  EXPECT_EQ(m.items[0]->integer, 1);
  EXPECT_EQ(m.items[1]->number, -2.5);
  EXPECT_EQ(m.items[2]->text, "x");
  EXPECT_TRUE(m.items[3]->is(Kind::object));
  EXPECT_EQ(root.find("nothing"), nullptr);
}

TEST(Json, IntegersAreExactOrNoIntegers) {
  const auto document = parse(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551616, "
      "-9223372036854775809, 3.0, 1e3]");
  const auto& items = document->root().items;
  EXPECT_EQ(items[0]->integer, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(items[1]->integer, std::numeric_limits<std::int64_t>::min());
  const char* written[] = {"9223372036854775808", "18446744073709551616", "-9223372036854775809",
                           "3.0", "1e3"};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(items[i + 2]->is(Kind::number)) << written[i];
    EXPECT_EQ(items[i + 2]->found(), written[i]);
  }
}

TEST(Json, PointersAreEscaped) {
  const auto document = parse(R"({"a/b": [0, {"m~n": 1, "": 2}]})");
  const JsonValue& object = *document->root().items[0]->items[1];
  EXPECT_EQ(object.items[0]->pointer(), "/a~1b/1/m~0n");
  EXPECT_EQ(object.items[1]->pointer(), "/a~1b/1/");
  EXPECT_EQ(document->root().pointer(), "");
}

TEST(Json, DepthOfTheLimitIsRead) {
  const std::size_t limit = JsonDocument::kMaxDepth;
  EXPECT_NO_THROW(parse(std::string(limit, '[') + std::string(limit, ']')));
  EXPECT_THROW(parse(std::string(limit + 1, '[') + std::string(limit + 1, ']')), SpecError);
  EXPECT_THROW(parse(std::string(5'000'000, '[')), SpecError);
}

TEST(Json, ByteOrderMarkIsSkipped) {
  EXPECT_EQ(parse("\xef\xbb\xbf[1]")->root().items[0]->integer, 1);
}

struct SyntaxRow {
  std::string text;
  std::size_t line, column;
  std::string part;  // of the message
};

TEST(Json, SyntaxErrorsCarryLineAndColumn) {
  using namespace std::string_literals;
  const SyntaxRow rows[] = {
      {"", 1, 1, "found nothing: the text is empty"},
      {" \n\t ", 1, 1, "found nothing: the text is empty"},
      {"{", 1, 2, "unexpected end of input"},
      {"[1, 2", 1, 6, "unexpected end of input"},
      {"{\"a\": 1,\n \"b\" 2}", 2, 6, "unexpected number literal; expected ':'"},
      {"[1,\n\n  ,]", 3, 3, "unexpected ','"},
      {"[1,]", 1, 4, "unexpected ']'"},
      {"{\"a\": 1,}", 1, 9, "unexpected '}'"},
      {"{} x", 1, 4, "expected end of input"},
      {"{}\n{}", 2, 1, "expected end of input"},
      {"// no\n{}", 1, 1, "invalid literal"},
      {"[01]", 1, 3, "unexpected number literal"},
      {"[NaN]", 1, 2, "found NaN: numbers are finite"},
      {"[-Infinity]", 1, 3, "found -Infinity: numbers are finite"},
      {"{\"a\": Infinity}", 1, 7, "found Infinity: numbers are finite"},
      {"[1e999]", 1, 6, "expected a finite number, found '1e999'"},
      {"[\"a\nb\"]", 1, 4, "control character"},
      {"[\"\xff\"]", 1, 3, "ill-formed UTF-8"},
      {"[\"\\x\"]", 1, 4, "invalid string"},
      {"['a']", 1, 2, "invalid literal"},
      {"[1]\0 junk"s, 1, 4, "found a zero byte"},
      {"\x7f"
       "ELF\x02\x01",
       1, 1, "invalid literal"},
      {"\xff\xfe{\0}\0"s, 1, 1, "expected UTF-8 text, found UTF-16"},
  };
  for (const SyntaxRow& row : rows) {
    try {
      parse(row.text);
      ADD_FAILURE() << "accepted: " << row.text;
    } catch (const SpecError& error) {
      EXPECT_EQ(error.line, row.line) << row.text;
      EXPECT_EQ(error.column, row.column) << row.text;
      EXPECT_NE(error.message.find(row.part), std::string::npos) << error.message;
      EXPECT_EQ(std::string(error.what()), "test.json:" + std::to_string(error.line) + ":" +
                                               std::to_string(error.column) + ": " + error.message);
      for (char c : error.message) EXPECT_TRUE(c >= ' ' && c <= '~') << error.message;
    }
  }
}

TEST(Json, DuplicateKeysAreRefusedWhereTheyStand) {
  try {
    parse(R"({"a": [{"x": 1, "y": 2, "x": [3]}]})");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_EQ(error.pointer, "/a/0/x");
    EXPECT_EQ(error.message, "duplicate key 'x': expected once, found 1 and an array of 1");
    EXPECT_EQ(error.line, 0u);
  }
  EXPECT_NO_THROW(parse(R"({"a": {"x": 1}, "b": {"x": 1}})"));
}

TEST(Json, QuotesArePrintableAndShort) {
  EXPECT_EQ(in_quotes("a\x01\xc3\xa9"), R"('a\x01\xc3\xa9')");
  EXPECT_EQ(in_quotes(std::string(100, 'a')), "'" + std::string(60, 'a') + "...'");
}

}  // namespace
}  // namespace arenagrad
