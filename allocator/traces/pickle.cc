#include "allocator/traces/pickle.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "allocator/traces/trace.h"

namespace arenagrad {
namespace {

/// The opcodes that protocols 2 to 5 write, by their names in Python's pickletools.
enum Opcode : unsigned char {
  MARK = '(',
  STOP = '.',
  POP = '0',
  POP_MARK = '1',
  DUP = '2',
  BINFLOAT = 'G',
  BININT = 'J',
  BININT1 = 'K',
  BININT2 = 'M',
  NONE = 'N',
  BINSTRING = 'T',
  SHORT_BINSTRING = 'U',
  BINUNICODE = 'X',
  BINBYTES = 'B',
  SHORT_BINBYTES = 'C',
  EMPTY_LIST = ']',
  APPEND = 'a',
  APPENDS = 'e',
  LIST = 'l',
  EMPTY_DICT = '}',
  SETITEM = 's',
  SETITEMS = 'u',
  DICT = 'd',
  EMPTY_TUPLE = ')',
  TUPLE = 't',
  BINGET = 'h',
  LONG_BINGET = 'j',
  BINPUT = 'q',
  LONG_BINPUT = 'r',
  PROTO = 0x80,
  TUPLE1 = 0x85,
  TUPLE2 = 0x86,
  TUPLE3 = 0x87,
  NEWTRUE = 0x88,
  NEWFALSE = 0x89,
  LONG1 = 0x8a,
  LONG4 = 0x8b,
  SHORT_BINUNICODE = 0x8c,
  BINUNICODE8 = 0x8d,
  BINBYTES8 = 0x8e,
  EMPTY_SET = 0x8f,
  ADDITEMS = 0x90,
  FROZENSET = 0x91,
  MEMOIZE = 0x94,
  FRAME = 0x95,
  BYTEARRAY8 = 0x96,
};

/// What else a pickle may hold, and why it is not read.
const char* refusal(int opcode) {
  switch (opcode) {
    case 'c': return "GLOBAL, which imports code";
    case 0x93: return "STACK_GLOBAL, which imports code";
    case 'i': return "INST, which imports and calls code";
    case 'o': return "OBJ, which calls code";
    case 'R': return "REDUCE, which calls code";
    case 'b': return "BUILD, which calls code";
    case 0x81: return "NEWOBJ, which calls code";
    case 0x92: return "NEWOBJ_EX, which calls code";
    case 0x82: return "EXT1, which imports code";
    case 0x83: return "EXT2, which imports code";
    case 0x84: return "EXT4, which imports code";
    case 'P': return "PERSID, which refers to something outside";
    case 'Q': return "BINPERSID, which refers to something outside";
    case 0x97: return "NEXT_BUFFER, which refers to something outside";
    case 0x98: return "READONLY_BUFFER, which refers to something outside";
    case 'I': return "INT, of protocol 0";
    case 'L': return "LONG, of protocol 0";
    case 'F': return "FLOAT, of protocol 0";
    case 'S': return "STRING, of protocol 0";
    case 'V': return "UNICODE, of protocol 0";
    case 'g': return "GET, of protocol 0";
    case 'p': return "PUT, of protocol 0";
    default: return nullptr;
  }
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

PickleValue integer_value(std::int64_t value) {
  PickleValue result{PickleValue::Kind::integer, {}};
  result.integer = value;
  return result;
}

}  // namespace

/// The stack machine. Each opcode takes a bounded step, so that what it holds is in proportion to
/// what it has read, and the budget bounds that.
class PickleReader {
 public:
  PickleReader(PickleTree& tree, std::size_t budget)
      : tree_(tree), source_(tree.source_), budget_(budget) {}

  PickleValue run() {
    if (source_.byte() != PROTO) source_.fail_byte("a pickle: expected PROTO, got none", 0);
    const auto protocol = static_cast<unsigned char>(source_.take(1, "PROTO")[0]);
    if (protocol < 2 || protocol > 5) {
      source_.fail_byte("a pickle: expected protocol 2 to 5, got " + std::to_string(protocol), 1);
    }
    for (;;) {
      at_ = source_.position();
      const int opcode = source_.byte();
      if (opcode < 0) fail("a pickle: expected STOP, got the end of the file");
      if (opcode == STOP) {
        if (stack_.size() != 1 || !marks_.empty()) {
          fail("STOP: expected one value on the stack, got " + std::to_string(stack_.size()));
        }
        return stack_.back();
      }
      step(opcode);
    }
  }

 private:
  using Kind = PickleValue::Kind;

  void step(int opcode) {
    switch (opcode) {
      case PROTO: source_.take(1, "PROTO"); return;
      case FRAME: source_.take(8, "FRAME"); return;
      case MARK:
        spend(sizeof(std::size_t));
        marks_.push_back(stack_.size());
        return;
      case POP:
        // A mark is what lies on top when nothing has come after it.
        if (!marks_.empty() && marks_.back() == stack_.size()) {
          marks_.pop_back();
        } else {
          pop();
        }
        return;
      case POP_MARK: shrink(take_mark()); return;
      case DUP: push(top()); return;
      case NONE: push({}); return;
      case NEWTRUE: push_boolean(true); return;
      case NEWFALSE: push_boolean(false); return;
      case BININT1: push(integer_value(static_cast<std::int64_t>(unsigned_number(1)))); return;
      case BININT2: push(integer_value(static_cast<std::int64_t>(unsigned_number(2)))); return;
      case BININT:
        push(integer_value(
            static_cast<std::int32_t>(static_cast<std::uint32_t>(unsigned_number(4)))));
        return;
      case LONG1: long_integer(unsigned_number(1)); return;
      case LONG4: long_integer(unsigned_number(4)); return;
      case BINFLOAT: binary_float(); return;
      case SHORT_BINUNICODE:
      case SHORT_BINBYTES:
      case SHORT_BINSTRING: text(unsigned_number(1)); return;
      case BINUNICODE:
      case BINBYTES:
      case BINSTRING: text(unsigned_number(4)); return;
      case BINUNICODE8:
      case BINBYTES8:
      case BYTEARRAY8: text(unsigned_number(8)); return;
      case EMPTY_LIST:
      case EMPTY_TUPLE:
      case EMPTY_SET: push_container(Kind::list, 0); return;
      case EMPTY_DICT: push_container(Kind::dict, 0); return;
      case LIST:
      case TUPLE:
      case FROZENSET: close(Kind::list); return;
      case DICT: close(Kind::dict); return;
      case TUPLE1: push_container(Kind::list, 1); return;
      case TUPLE2: push_container(Kind::list, 2); return;
      case TUPLE3: push_container(Kind::list, 3); return;
      case APPEND: extend(Kind::list, above(1)); return;
      case SETITEM: extend(Kind::dict, above(2)); return;
      case APPENDS:
      case ADDITEMS: extend(Kind::list, take_mark()); return;
      case SETITEMS: extend(Kind::dict, take_mark()); return;
      case BINPUT: put(unsigned_number(1)); return;
      case LONG_BINPUT: put(unsigned_number(4)); return;
      case MEMOIZE: put(memo_.size()); return;
      case BINGET: get(unsigned_number(1)); return;
      case LONG_BINGET: get(unsigned_number(4)); return;
      default: break;
    }
    const char* known = refusal(opcode);
    fail(std::string("a pickle: expected plain data, got ") +
         (known ? known : "an unknown opcode " + std::to_string(opcode)));
  }

  // --- reading -----------------------------------------------------------------------------------

  std::uint64_t unsigned_number(std::size_t bytes) {
    return little_endian(source_.take(bytes, "a number"));
  }

  void long_integer(std::uint64_t bytes) {
    if (bytes > 8) {
      // Two's complement: nine bytes may still hold an address.
      if (bytes == 9) {
        const auto all = source_.take(9, "an integer");
        const std::uint64_t low = little_endian(all.substr(0, 8));
        if (all[8] == 0 && low <= INT64_MAX) {
          return push(integer_value(static_cast<std::int64_t>(low)));
        }
      } else {
        source_.skip(bytes, "an integer");
      }
      return push({Kind::huge, {}});
    }
    const auto all = source_.take(bytes, "an integer");
    std::uint64_t value = little_endian(all);
    if (bytes > 0 && bytes < 8 && (all.back() & 0x80) != 0) value |= ~std::uint64_t{0} << 8 * bytes;
    push(integer_value(static_cast<std::int64_t>(value)));
  }

  void binary_float() {
    std::string bytes(source_.take(8, "a number"));
    std::reverse(bytes.begin(), bytes.end());
    PickleValue value{Kind::real, {}};
    value.real = std::bit_cast<double>(little_endian(bytes));
    push(value);
  }

  void text(std::uint64_t bytes) {
    const auto content = source_.take(bytes, "a text");
    const auto [entry, is_new] = tree_.texts_.emplace(content);
    if (is_new) spend(content.size() + 80);
    PickleValue value{Kind::text, {}};
    value.text = &*entry;
    push(value);
  }

  // --- the stack ---------------------------------------------------------------------------------

  void push(PickleValue value) {
    spend(sizeof value);
    stack_.push_back(value);
  }

  void push_boolean(bool value) {
    PickleValue result = integer_value(value ? 1 : 0);
    result.kind = Kind::boolean;
    push(result);
  }

  /// Where the items above the last mark begin; the mark is gone.
  std::size_t take_mark() {
    if (marks_.empty()) fail("expected a mark on the stack, got none");
    const std::size_t mark = marks_.back();
    marks_.pop_back();
    return mark;
  }

  /// Where the topmost `count` items begin; none of them lies below a mark.
  std::size_t above(std::size_t count) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) {
      fail("expected " + std::to_string(count) + " values on the stack, got " +
           std::to_string(stack_.size() - floor));
    }
    return stack_.size() - count;
  }

  PickleValue top() { return stack_[above(1)]; }
  void pop() { shrink(above(1)); }

  void shrink(std::size_t size) {
    budget_ += (stack_.size() - size) * sizeof(PickleValue);
    stack_.resize(size);
  }

  /// A container of the topmost `count` items.
  void push_container(Kind kind, std::size_t count) { make_container(kind, above(count)); }
  void close(Kind kind) { make_container(kind, take_mark()); }

  void make_container(Kind kind, std::size_t begin) {
    spend(sizeof(PickleTree::Container));
    PickleValue value{kind, {}};
    value.container = tree_.containers_.size();
    tree_.containers_.push_back({at_, {}});
    move_items(value, begin);
    push(value);
  }

  /// Puts the items from `begin` on into the container below them.
  void extend(Kind kind, std::size_t begin) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (begin <= floor || stack_[begin - 1].kind != kind) {
      fail(std::string("expected a ") + (kind == Kind::list ? "list" : "dict") +
           " below the items, got something else");
    }
    move_items(stack_[begin - 1], begin);
  }

  void move_items(PickleValue container, std::size_t begin) {
    if (container.kind == Kind::dict && (stack_.size() - begin) % 2 != 0) {
      fail("expected a value for each key, got a key alone");
    }
    auto& items = tree_.containers_[container.container].items;
    spend((stack_.size() - begin) * sizeof(PickleValue));
    items.insert(items.end(), stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    shrink(begin);
  }

  // --- the memo ----------------------------------------------------------------------------------

  void put(std::uint64_t index) {
    spend(48);
    memo_[index] = top();
  }
  void get(std::uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) {
      fail("expected a memo that was put, got " + std::to_string(index) + ", which was not");
    }
    push(found->second);
  }

  void spend(std::size_t bytes) {
    if (bytes > budget_)
      fail("a pickle: expected one that fits the memory limit, got a larger one");
    budget_ -= bytes;
  }

  [[noreturn]] void fail(const std::string& text) { source_.fail_byte(text, at_); }

  PickleTree& tree_;
  ByteSource& source_;
  std::size_t budget_;
  std::uint64_t at_ = 0;  // of the opcode at work
  std::vector<PickleValue> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleValue> memo_;
};

PickleTree::PickleTree(ByteSource& source, std::size_t budget) : source_(source) {
  root_ = PickleReader(*this, budget).run();
}

std::optional<PickleValue> PickleTree::find(PickleValue dict, std::string_view key) const {
  const auto& all = items(dict);
  if (all.size() / 2 > kMostKeys) {
    fail("a dict: expected at most " + std::to_string(kMostKeys) + " keys, got " +
             std::to_string(all.size() / 2),
         dict);
  }
  for (std::size_t i = all.size(); i >= 2; i -= 2) {  // the last one counts, as in Python
    const PickleValue& name = all[i - 2];
    if (name.kind == PickleValue::Kind::text && *name.text == key) return all[i - 1];
  }
  return std::nullopt;
}

}  // namespace arenagrad
