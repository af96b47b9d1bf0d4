// The JSON Schema says what the op table says, and is content with what the reader accepts.
#include "tests/zoo/schema.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/zoo/support.h"
#include "zoo/ops.h"

namespace arenagrad {
namespace {

using Kind = JsonValue::Kind;

class SpecSchema : public ::testing::Test {
 protected:
  const std::unique_ptr<JsonDocument> document_ =
      JsonDocument::parse(read_source("zoo/spec.schema.json"), "spec.schema.json");
  const JsonValue& schema_ = document_->root();
  const JsonValue& definitions_ = *schema_.find("definitions");

  std::string violation(const std::string& text) const {
    return schema_violation(schema_, JsonDocument::parse(text, "test.json")->root());
  }
};

std::set<std::string> keys(const JsonValue& object) {
  std::set<std::string> found;
  for (const JsonValue* item : object.items) found.insert(item->key);
  return found;
}

std::set<std::string> texts(const JsonValue& array) {
  std::set<std::string> found;
  for (const JsonValue* item : array.items) found.insert(item->text);
  return found;
}

TEST_F(SpecSchema, ListsEveryOpOnce) {
  std::set<std::string> listed;
  for (const JsonValue* choice : definitions_.find("layer")->find("anyOf")->items) {
    EXPECT_TRUE(listed.insert(choice->items[0]->text).second);
  }
  std::set<std::string> expected{"#/definitions/block", "#/definitions/group"};
  for (const Op& op : ops()) expected.insert("#/definitions/" + std::string(op.name));
  EXPECT_EQ(listed, expected);
}

TEST_F(SpecSchema, KnowsTheKeysOfTheOpTable) {
  for (const Op& op : ops()) {
    SCOPED_TRACE(op.name);
    const JsonValue* definition = definitions_.find(op.name);
    ASSERT_NE(definition, nullptr);
    std::set<std::string> known{"op", "name", "in", "when", "description"}, required{"op"};
    if (op.has_parameters) known.insert("weights");
    if (op.min_inputs > 1) required.insert("in");
    for (const Argument& argument : op.arguments) {
      known.insert(std::string(argument.key));
      if (argument.required) required.insert(std::string(argument.key));
    }
    EXPECT_EQ(keys(*definition->find("properties")), known);
    EXPECT_EQ(texts(*definition->find("required")), required);
    EXPECT_FALSE(definition->find("additionalProperties")->boolean);
    EXPECT_EQ(definition->find("properties")->find("op")->find("const")->text, op.name);
  }
}

bool is_default(const ArgumentValue& standard, const JsonValue& json) {
  if (const auto* b = std::get_if<bool>(&standard)) return json.boolean == *b;
  if (const auto* i = std::get_if<std::int64_t>(&standard)) return json.integer == *i;
  if (const auto* p = std::get_if<Pair>(&standard)) return *p == Pair{json.integer, json.integer};
  if (const auto* d = std::get_if<double>(&standard)) {
    return (json.is(Kind::integer) ? double(json.integer) : json.number) == *d;
  }
  return std::holds_alternative<InitRule>(standard) && json.text == "pytorch";
}

TEST_F(SpecSchema, HasTheDefaultsOfTheOpTable) {
  for (const Op& op : ops()) {
    for (const Argument& argument : op.arguments) {
      SCOPED_TRACE(std::string(op.name) + " " + std::string(argument.key));
      const JsonValue* standard =
          definitions_.find(op.name)->find("properties")->find(argument.key)->find("default");
      const bool has_none = std::holds_alternative<None>(argument.standard);
      ASSERT_EQ(standard == nullptr, has_none);
      if (standard) {
        EXPECT_TRUE(is_default(argument.standard, *standard)) << standard->found();
      }
    }
  }
}

/// A layer of this op with `value` for the argument, and something valid for what else is required.
std::string layer_with(const Op& op, const Argument& argument, const std::string& value) {
  std::string text = R"({"op": ")" + std::string(op.name) + '"';
  for (const Argument& other : op.arguments) {
    if (&other != &argument && !other.required) continue;
    text += ", \"" + std::string(other.key) + "\": " + (&other == &argument ? value : "1");
  }
  return text + "}";
}

TEST_F(SpecSchema, DrawsTheSameBordersAsTheReader) {
  const std::string values[] = {"-1",
                                "0",
                                "1",
                                "2147483647",
                                "2147483648",
                                "0.5",
                                "1.5",
                                "-0.5",
                                "true",
                                "\"a\"",
                                "null",
                                "[1, 1]",
                                "[0, 0]",
                                "[1]",
                                "[1, 2, 3]",
                                "[1, \"x\"]",
                                "{}",
                                "\"pytorch\"",
                                "{\"normal\": 0.1}",
                                "{\"normal\": -1}",
                                "{\"normal\": 1, \"x\": 1}",
                                "[1, -1]",
                                "[1, 2147483648]"};
  int accepted = 0, refused = 0;
  for (const Op& op : ops()) {
    for (const Argument& argument : op.arguments) {
      for (const std::string& value : values) {
        // In a block that is never used only the form is read, no shape.
        const std::string text =
            net(R"({"op": "relu"})",
                R"("blocks": {"b": {"layers": [)" + layer_with(op, argument, value) + "]}}, ");
        std::string error;
        try {
          parse(text);
        } catch (const SpecError& e) {
          error = e.what();
        }
        const std::string found = violation(text);
        EXPECT_EQ(error.empty(), found.empty()) << text << "\n" << error << "\n" << found;
        (error.empty() ? accepted : refused) += 1;
      }
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(refused, 200);
}

TEST_F(SpecSchema, IsContentWithTheZoo) {
  for (const ZooEntry& entry : zoo_models()) {
    EXPECT_EQ(violation(read_source("zoo/" + entry.name + ".json")), "") << entry.name;
  }
}

TEST_F(SpecSchema, SeesWhatTheReaderSees) {
  const std::string relu = R"({"op": "relu"})";
  const std::string bad[] = {
      net(R"({"op": "rleu"})"),
      net(R"({"op": "relu", "strid": 2})"),
      net(R"({"op": "conv2d", "out_channels": 1})"),
      net(R"({"op": "add"})"),
      net(relu, R"("name": "a.b", )"),
      net(relu, R"("init": "xavier", )"),
      net(relu, R"("loss": {"reduction": "avg"}, )"),
      net(relu, R"("blocks": {"b": {"layers": []}}, )"),
      net(relu, R"("blocks": {"b": {"inputs": ["x", "x"], "layers": [{"op": "relu"}]}}, )"),
      net(relu, R"("inputs": {"a": [1]}, )"),
      net(R"({"op": "dropout", "p": "p"})"),
      net(R"({"layers": [{"op": "relu"}], "shared": true})"),
      R"({"classes": 4, "layers": [{"op": "relu"}]})",
      R"({"inputs": {"loss": [3]}, "classes": 4, "layers": [{"op": "relu"}]})",
  };
  EXPECT_EQ(violation(net(relu)), "");
  for (const std::string& text : bad) {
    EXPECT_NE(violation(text), "") << text;
    EXPECT_THROW(parse(text), SpecError) << text;
  }
}

}  // namespace
}  // namespace arenagrad
