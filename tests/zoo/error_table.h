// A row: a spec, and where and how exactly it has to be refused.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>

#include "tests/zoo/support.h"

namespace arenagrad {

struct ErrorRow {
  std::string text, pointer, message;
};

inline void expect_errors(std::span<const ErrorRow> rows) {
  for (const ErrorRow& row : rows) {
    try {
      parse(row.text);
      ADD_FAILURE() << "accepted: " << row.text;
    } catch (const SpecError& error) {
      EXPECT_EQ(error.pointer, row.pointer) << row.text;
      EXPECT_EQ(error.message, row.message) << row.text;
      EXPECT_EQ(error.what(),
                "test.json: " + row.pointer + (row.pointer.empty() ? "" : ": ") + row.message);
    }
  }
}

/// A net whose only layer before its end is `use`, with these blocks.
inline std::string block_net(const std::string& blocks,
                             const std::string& use = R"({"block": "b"})") {
  return net(use, R"("blocks": {)" + blocks + "}, ");
}

}  // namespace arenagrad
