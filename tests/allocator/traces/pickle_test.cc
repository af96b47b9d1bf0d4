#include "allocator/traces/pickle.h"

#include <gtest/gtest.h>

#include "allocator/traces/pickle_writer.h"
#include "allocator/traces/trace.h"
#include "tests/allocator/traces/python.h"

namespace arenagrad::testing {
namespace {

using Kind = PickleValue::Kind;
using namespace std::string_literals;

struct Read {
  explicit Read(std::string_view bytes, std::size_t budget = PickleTree::kBudget)
      : source(reading_text(bytes), "file"), tree(source, budget) {}
  ByteSource source;
  PickleTree tree;
};

std::string show(const PickleTree& tree, PickleValue value) {
  switch (value.kind) {
    case Kind::none: return "None";
    case Kind::boolean: return value.integer ? "True" : "False";
    case Kind::integer: return std::to_string(value.integer);
    case Kind::huge: return "huge";
    case Kind::real: return std::to_string(value.real);
    case Kind::text: return "'" + *value.text + "'";
    case Kind::list:
    case Kind::dict: break;
  }
  std::string text = value.kind == Kind::list ? "[" : "{";
  for (const auto& item : tree.items(value)) text += show(tree, item) + " ";
  return text + (value.kind == Kind::list ? "]" : "}");
}

std::string show(std::string_view bytes) {
  const Read read(bytes);
  return show(read.tree, read.tree.root());
}

std::string error_of(std::string_view bytes, std::size_t budget = PickleTree::kBudget) {
  try {
    Read read(bytes, budget);
  } catch (const TraceError& error) {
    return error.what();
  }
  return {};
}

TEST(Pickle, ReadsWhatPythonWrites) {
  if (!has_python()) GTEST_SKIP() << "python3 is not there to write pickles";
  const Scratch scratch;
  const std::string program = R"(
import pickle, sys
shared = ['frame', 'frame', 'a longer text that is put into the memo']
value = {'a': [1, -1, 255, 256, 65535, 65536, -65537, 2**31, 2**40, -2**40, 2**62, 2**63 - 1,
               -2**63, 2**63, 2**200, -2**200, 0],
         'b': (1.5, -2.0), 'c': (), 'd': (1,), 'e': (1, 2, 3), 'f': (1, 2, 3, 4), 'g': True,
         'h': False, 'i': None, 'j': shared, 'k': shared, 'l': '\u00e9' * 300, 'm': {},
         'n': list(range(2500)), 'o': '' }
open(sys.argv[1], 'wb').write(pickle.dumps(value, int(sys.argv[2])))
)";
  const auto script = scratch.write("write.py", program);
  std::string first;
  for (int protocol = 2; protocol <= 5; ++protocol) {
    ASSERT_EQ(
        output_of("python3 " + script + " " + scratch.path("p") + " " + std::to_string(protocol)),
        "");
    const std::string text = show(scratch.read("p"));
    EXPECT_TRUE(text.starts_with(
        "{'a' [1 -1 255 256 65535 65536 -65537 2147483648 1099511627776 -1099511627776 "
        "4611686018427387904 9223372036854775807 -9223372036854775808 huge huge huge 0 ] 'b' "
        "[1.500000 -2.000000 ] 'c' [] 'd' [1 ] 'e' [1 2 3 ] 'f' [1 2 3 4 ] 'g' True 'h' False 'i' "
        "None 'j' ['frame' 'frame' 'a longer text that is put into the memo' ] 'k' ['frame' "))
        << text.substr(0, 600);
    EXPECT_TRUE(text.ends_with("2498 2499 ] 'o' '' }"));
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << "protocol " << protocol;
  }
}

TEST(Pickle, HandMade) {
  EXPECT_EQ(show("\x80\x02}(X\x01\0\0\0aK\x05X\x01\0\0\0b]u."s), "{'a' 5 'b' [] }");
  EXPECT_EQ(show("\x80\x02(K\x01K\x02l."s), "[1 2 ]");
  EXPECT_EQ(show("\x80\x02(K\x01K\x02"
                 "d."s),
            "{1 2 }");
  EXPECT_EQ(show("\x80\x02]K\x07"s + "a."), "[7 ]");
  EXPECT_EQ(show("\x80\x02K\x01"
                 "20."s),
            "1");  // DUP, POP
  EXPECT_EQ(show("\x80\x02K\x01(K\x02K\x03"
                 "1."s),
            "1");  // POP_MARK
  EXPECT_EQ(show("\x80\x04]\x94h\x00\x86."s), "[[] [] ]");
}

TEST(Pickle, WriterAndReaderAgree) {
  std::string bytes;
  PickleWriter writer([&](std::string_view more) { bytes += more; });
  auto list = writer.begin_list();
  std::string wanted = "[";
  for (const std::uint64_t value :
       {0ull, 255ull, 256ull, 65535ull, 65536ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull,
        1ull << 40, 0x7fffffffffffffffull}) {
    writer.item(list);
    writer.integer(value);
    wanted += std::to_string(value) + " ";
  }
  for (int i = 0; i < 3000; ++i) {
    writer.item(list);
    writer.text("text " + std::to_string(i % 1500));  // memos past 255
    wanted += "'text " + std::to_string(i % 1500) + "' ";
  }
  writer.item(list);
  writer.minus_one();
  writer.item(list);
  writer.real(0.75);
  writer.end_list();
  writer.finish();
  EXPECT_EQ(show(bytes), wanted + "-1 0.750000 ]");
}

TEST(Pickle, RefusesEverythingThatIsNotData) {
  const auto got = [](const std::string& what) {
    return "a pickle: expected plain data, got " + what;
  };
  EXPECT_EQ(error_of("\x80\x02"
                     "cos\nsystem\n."s),
            got("GLOBAL, which imports code, at byte 2 of file"));
  EXPECT_EQ(error_of("\x80\x04\x8c\x02os\x8c\x06system\x93."s),
            got("STACK_GLOBAL, which imports code, at byte 14 of file"));
  EXPECT_EQ(error_of("\x80\x02K\x01)R."s), got("REDUCE, which calls code, at byte 5 of file"));
  EXPECT_EQ(error_of("\x80\x02K\x01)\x81."s), got("NEWOBJ, which calls code, at byte 5 of file"));
  EXPECT_EQ(error_of("\x80\x02}}b."s), got("BUILD, which calls code, at byte 4 of file"));
  EXPECT_EQ(error_of("\x80\x02\x82\x01."s), got("EXT1, which imports code, at byte 2 of file"));
  EXPECT_EQ(error_of("\x80\x02K\x01Q."s),
            got("BINPERSID, which refers to something outside, at byte 4 of file"));
  EXPECT_EQ(error_of("\x80\x05\x97."s),
            got("NEXT_BUFFER, which refers to something outside, at byte 2 of file"));
  EXPECT_EQ(error_of("\x80\x02I5\n."s), got("INT, of protocol 0, at byte 2 of file"));
  EXPECT_EQ(error_of("\x80\x02\xff."s), got("an unknown opcode 255, at byte 2 of file"));
  // Each of the 256 either is read or is refused by name or number: nothing else may happen.
  for (int opcode = 0; opcode < 256; ++opcode) {
    const std::string text = "\x80\x02"s + static_cast<char>(opcode) + ".";
    EXPECT_NO_FATAL_FAILURE(error_of(text)) << opcode;
  }
}

TEST(Pickle, DamageNamesTheByte) {
  EXPECT_EQ(error_of(""), "a pickle: expected PROTO, got none, at byte 0 of file");
  EXPECT_EQ(error_of("(lp0\n."), "a pickle: expected PROTO, got none, at byte 0 of file");
  EXPECT_EQ(error_of("\x80\x06."s), "a pickle: expected protocol 2 to 5, got 6, at byte 1 of file");
  EXPECT_EQ(error_of("\x80"s),
            "the file ends inside PROTO: expected 1 bytes, got 0, at byte 1 of file");
  EXPECT_EQ(error_of("\x80\x02}"s),
            "a pickle: expected STOP, got the end of the file, at byte 3 of file");
  EXPECT_EQ(error_of("\x80\x02."s),
            "STOP: expected one value on the stack, got 0, at byte 2 of file");
  EXPECT_EQ(error_of("\x80\x02K\x01K\x02."s),
            "STOP: expected one value on the stack, got 2, at byte 6 of file");
  EXPECT_EQ(error_of("\x80\x02]K\x01s."s),
            "expected a dict below the items, got something else, at byte 5 of file");
  EXPECT_EQ(error_of("\x80\x02}(K\x01u."s),
            "expected a value for each key, got a key alone, at byte 6 of file");
  EXPECT_EQ(error_of("\x80\x02]e."s), "expected a mark on the stack, got none, at byte 3 of file");
  EXPECT_EQ(error_of("\x80\x02(e."s),
            "expected a list below the items, got something else, at byte 3 of file");
  EXPECT_EQ(error_of("\x80\x02](K\x01(a."s),
            "expected 1 values on the stack, got 0, at byte 7 of file");
  EXPECT_EQ(error_of("\x80\x02h\x05."s),
            "expected a memo that was put, got 5, which was not, at byte 2 of file");
  EXPECT_EQ(error_of("\x80\x02q\x05."s),
            "expected 1 values on the stack, got 0, at byte 2 of file");
}

TEST(Pickle, HugeCountsCostNothing) {
  const std::string four = "\xff\xff\xff\xff"s;
  EXPECT_EQ(error_of("\x80\x02X"s + four + "abc"),
            "a text: expected at most 1048576 bytes, got 4294967295, at byte 7 of file");
  EXPECT_EQ(error_of("\x80\x04\x8d"s + four + four + "abc"),
            "a text: expected at most 1048576 bytes, got 18446744073709551615, at byte 11 of file");
  EXPECT_EQ(error_of("\x80\x02X\x10\0\0\0abc"s),
            "the file ends inside a text: expected 16 bytes, got 3, at byte 7 of file");
  EXPECT_EQ(error_of("\x80\x02\x8b"s + four + "abc"),
            "the file ends inside an integer: expected 65536 bytes, got 3, at byte 7 of file");
  EXPECT_EQ(error_of("\x80\x02\x8a\xff"s + "abc"),
            "the file ends inside an integer: expected 255 bytes, got 3, at byte 4 of file");
  EXPECT_EQ(show("\x80\x02K\x01r\xff\xff\xff\xff."s), "1");  // a memo's number is no size
  EXPECT_EQ(show("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\xffK\x01."s), "1");  // nor is a frame's
}

TEST(Pickle, MemoryIsBounded) {
  std::string many = "\x80\x02]("s + std::string(100000, 'N') + "e.";
  EXPECT_EQ(error_of(many), "");
  EXPECT_TRUE(
      error_of(many, 1 << 20)
          .starts_with(
              "a pickle: expected one that fits the memory limit, got a larger one, at byte "));
  EXPECT_NE(error_of("\x80\x02"s + std::string(200000, '('), 1 << 20), "");
  EXPECT_NE(error_of("\x80\x02"s + std::string(200000, ']'), 1 << 20), "");
}

TEST(Pickle, AListMayHoldItself) {
  const Read read("\x80\x02]q\x00h\x00"s + "a.");
  const auto root = read.tree.root();
  ASSERT_EQ(read.tree.items(root).size(), 1u);
  EXPECT_EQ(read.tree.items(root)[0].container, root.container);
}

TEST(Pickle, TheLastOfEqualKeysCounts) {
  const Read read(
      "\x80\x02}(U\x01"
      "aK\x01U\x01"
      "aK\x02u."s);
  EXPECT_EQ(read.tree.find(read.tree.root(), "a")->integer, 2);
  EXPECT_FALSE(read.tree.find(read.tree.root(), "b").has_value());
}

}  // namespace
}  // namespace arenagrad::testing
