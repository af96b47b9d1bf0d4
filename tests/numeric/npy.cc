#include "tests/numeric/npy.h"

#include <bit>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "kernels/shape.h"

namespace arenagrad::numeric {
namespace {

static_assert(std::endian::native == std::endian::little, "data is stored little endian");

constexpr std::string_view kMagic = "\x93NUMPY";

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The header: a Python dictionary literal with three known keys.
class Header {
 public:
  Header(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  std::string string(std::string_view key) const {
    std::string_view rest = value(key);
    const char quote = rest.empty() ? '\0' : rest.front();
    const std::size_t end = rest.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == rest.npos) fail(key, "a string");
    return std::string(rest.substr(1, end - 1));
  }

  bool boolean(std::string_view key) const {
    const std::string_view rest = value(key);
    if (rest.starts_with("True")) return true;
    if (!rest.starts_with("False")) fail(key, "True or False");
    return false;
  }

  std::vector<std::int64_t> tuple(std::string_view key) const {
    std::string_view rest = value(key);
    const std::size_t end = rest.find(')');
    if (!rest.starts_with('(') || end == rest.npos) fail(key, "a tuple");
    std::vector<std::int64_t> result;
    bool in_number = false;
    for (char c : rest.substr(1, end - 1)) {
      if (std::isdigit(static_cast<unsigned char>(c))) {
        if (!in_number) result.push_back(0);
        result.back() = checked_product(result.back(), 10) + (c - '0');
        in_number = true;
      } else if (c == ',' || c == ' ') {
        in_number = false;
      } else {
        fail(key, "whole numbers");
      }
    }
    return result;
  }

 private:
  std::string_view value(std::string_view key) const {
    for (char quote : {'\'', '"'}) {
      const std::string quoted = quote + std::string(key) + quote;
      const std::size_t at = text_.find(quoted);
      if (at == text_.npos) continue;
      const std::size_t colon = text_.find(':', at + quoted.size());
      const std::size_t begin = text_.find_first_not_of(' ', colon + 1);
      if (colon != text_.npos && begin != text_.npos) return text_.substr(begin);
    }
    fail(key, "a value");
  }

  [[noreturn]] void fail(std::string_view key, std::string_view expected) const {
    throw Error(path_ + ": header: expected " + std::string(expected) + " for '" +
                std::string(key) + "', got " + std::string(text_));
  }

  std::string_view text_;
  const std::string& path_;
};

template <class Stored, class Wide>
void widen(std::string_view bytes, std::vector<Wide>& to) {
  to.resize(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < to.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    to[i] = static_cast<Wide>(stored);
  }
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  const std::string file = read_all(path);
  // Magic, major and minor version, length of the header: 2 bytes in version 1, else 4.
  if (file.size() < 10 || !file.starts_with(kMagic)) throw Error(path + ": not a .npy file");
  const auto byte = [&](std::size_t i) -> std::size_t {
    return static_cast<unsigned char>(file[i]);
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    throw Error(path + ": expected .npy version 1, 2 or 3, got " + std::to_string(version));
  const std::size_t begin = version == 1 ? 10 : 12;
  if (file.size() < begin) throw Error(path + ": cut off in the header");
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (file.size() - begin < length) throw Error(path + ": cut off in the header");

  const Header header(std::string_view(file).substr(begin, length), path);
  if (header.boolean("fortran_order")) throw Error(path + ": expected C order, got Fortran order");
  NpyArray array;
  array.shape = header.tuple("shape");
  const std::string type = header.string("descr");
  if (type != "<f4" && type != "<f8" && type != "<i8")
    throw Error(path + ": expected type <f4, <f8 or <i8, got " + type);

  std::int64_t elements = 1;
  for (std::int64_t n : array.shape) elements = checked_product(elements, n);
  const std::string_view data = std::string_view(file).substr(begin + length);
  const std::int64_t bytes = checked_product(elements, type == "<f4" ? 4 : 8);
  if (data.size() != static_cast<std::size_t>(bytes))
    throw Error(path + ": expected " + std::to_string(bytes) + " bytes of data, got " +
                std::to_string(data.size()));
  array.type = type == "<f4" ? DType::f32 : type == "<f8" ? DType::f64 : DType::i64;
  if (type == "<f4") widen<float>(data, array.values);
  if (type == "<f8") widen<double>(data, array.values);
  if (type == "<i8") widen<std::int64_t>(data, array.integers);
  return array;
}

}  // namespace arenagrad::numeric
