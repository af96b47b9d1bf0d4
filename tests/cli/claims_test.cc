// docs/claims.md: every number of ours on that page is what the command beside it prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/cli/support.h"

namespace arenagrad {
namespace {

struct Claim {
  std::string what, number, command, key;
};

std::string trimmed(const std::string& text, const char* marks) {
  const auto begin = text.find_first_not_of(marks);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(marks) - begin + 1);
}

/// The rows of the tables that have a command.
std::vector<Claim> claims() {
  std::vector<Claim> result;
  const auto page = test::read_file(std::string(ARENAGRAD_SOURCE_DIR) + "/docs/claims.md");
  for (const auto& line : test::lines(page)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');) cells.push_back(trimmed(cell, " `"));
    const bool is_row = cells.size() == 5 && line.find("| `") != std::string::npos;
    if (is_row) result.push_back({cells[1], cells[2], cells[3], cells[4]});
  }
  return result;
}

std::vector<std::string> words(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> result;
  for (std::string word; text >> word;) result.push_back(word);
  result.insert(result.end(), {"--format", "json"});
  return result;
}

TEST(Claims, EveryNumberIsWhatItsCommandPrints) {
  std::map<std::string, nlohmann::json> outputs;  // several rows have one command
  int checked = 0;
  for (const auto& claim : claims()) {
    auto& json = outputs[claim.command];
    if (json.is_null()) {
      const auto outcome = test::arenagrad(words(claim.command));
      ASSERT_EQ(outcome.code, 0) << claim.command << ": " << outcome.err;
      json = outcome.json();
    }
    const nlohmann::json::json_pointer key(claim.key);
    ASSERT_TRUE(json.contains(key)) << claim.command << " " << claim.key;
    auto digits = claim.number;
    std::erase(digits, ',');
    EXPECT_EQ(json.at(key).dump(), digits) << claim.what << ": " << claim.command;
    ++checked;
  }
  EXPECT_GE(checked, 19);  // the page was read as it is meant
}

}  // namespace
}  // namespace arenagrad
