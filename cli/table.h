// Tables as data: cells know what they hold, so that one table can be shown to a reader (units,
// alignment) and written for a program (exact plain numbers).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace arenagrad::cli {

struct Bytes {
  std::size_t value;
};
struct Count {
  std::int64_t value;
};
struct Real {
  double value;
  int digits = 4;  // significant ones, when shown
};
struct Duration {
  double value;
};
struct Share {
  double value;  // 0 to 1
};
/// A row's name: words to show, a key to write.
struct Label {
  std::string words, key;
};

/// std::monostate: nothing to say here.
using Cell = std::variant<std::monostate, std::string, Label, Bytes, Count, Real, Duration, Share>;

struct Column {
  std::string title;  // shown
  std::string key;    // written
  bool right = false;
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::vector<Cell>> totals;  // rows set apart at the end

  /// Two columns, names and values.
  static Table of_quantities(std::string title);
  void add(std::string words, std::string key, Cell value);
};

/// For a reader: "1.50 GiB (1,610,612,736 B)", "12,345", "1.235e-07", "12.3 ms", "45.1 %".
std::string shown(const Cell& cell);
/// For a program: 1610612736, 12345, the shortest decimals that read back to the same number.
std::string written(const Cell& cell);

/// Aligned columns; titles in bold when `colour`.
std::string render_text(const Table& table, bool colour);
std::string render_markdown(const Table& table);
/// RFC 4180, with a header line.
std::string render_csv(const Table& table);

}  // namespace arenagrad::cli
