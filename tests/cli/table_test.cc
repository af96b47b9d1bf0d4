#include "cli/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "allocator/error.h"

namespace arenagrad::cli {
namespace {

Table example() {
  Table table{"sizes", {{"name", "name"}, {"bytes", "bytes", true}}, {}, {}};
  table.rows.push_back({std::string("a|b"), Bytes{1536}});
  table.rows.push_back({std::string("say \"hi\", you"), {}});
  table.totals.push_back({std::string("total"), Bytes{1610612736}});
  return table;
}

TEST(Table, CellsAreShownWithUnitsAndWrittenExactly) {
  EXPECT_EQ(shown(Bytes{1610612736}), "1.50 GiB (1,610,612,736 B)");
  EXPECT_EQ(written(Bytes{1610612736}), "1610612736");
  EXPECT_EQ(shown(Count{-1234567}), "-1,234,567");
  EXPECT_EQ(written(Count{-1234567}), "-1234567");
  EXPECT_EQ(shown(Real{1.23456789e-7}), "1.235e-07");
  EXPECT_EQ(written(Real{0.1}), "0.1");
  EXPECT_EQ(shown(Duration{0.0125}), "12.5 ms");
  EXPECT_EQ(shown(Duration{12.5e-6}), "12.5 us");
  EXPECT_EQ(shown(Duration{1.5}), "1.50 s");
  EXPECT_EQ(shown(Duration{0}), "0 s");
  EXPECT_EQ(written(Duration{0.0125}), "0.0125");
  EXPECT_EQ(shown(Share{0.4512}), "45.1 %");
  EXPECT_EQ(shown(Label{"peak", "bytes.peak"}), "peak");
  EXPECT_EQ(written(Label{"peak", "bytes.peak"}), "bytes.peak");
  EXPECT_EQ(shown({}), "-");
  EXPECT_EQ(written({}), "");
}

TEST(Table, TextIsAligned) {
  EXPECT_EQ(render_text(example(), false),
            "sizes\n"
            "  name                                bytes\n"
            "  -------------  --------------------------\n"
            "  a|b                    1.50 KiB (1,536 B)\n"
            "  say \"hi\", you                           -\n"
            "  -------------  --------------------------\n"
            "  total          1.50 GiB (1,610,612,736 B)\n");
}

TEST(Table, TitlesAreBoldOnlyInColour) {
  EXPECT_TRUE(render_text(example(), true).starts_with("\033[1msizes\033[0m\n"));
  EXPECT_EQ(render_text(example(), false).find('\033'), std::string::npos);
}

TEST(Table, MarkdownEscapesBars) {
  EXPECT_EQ(render_markdown(example()),
            "### sizes\n\n"
            "| name | bytes |\n"
            "| --- | ---: |\n"
            "| a\\|b | 1.50 KiB (1,536 B) |\n"
            "| say \"hi\", you | - |\n"
            "| total | 1.50 GiB (1,610,612,736 B) |\n");
}

TEST(Table, CsvQuotesAndWritesPlainNumbers) {
  EXPECT_EQ(render_csv(example()),
            "name,bytes\r\n"
            "a|b,1536\r\n"
            "\"say \"\"hi\"\", you\",\r\n"
            "total,1610612736\r\n");
}

TEST(Table, WideCharactersCountOnce) {
  Table table{"", {{"µs", "us"}, {"x", "x"}}, {{std::string("é"), std::string("y")}}, {}};
  EXPECT_EQ(render_text(table, false), "  µs  x\n  --  -\n  é   y\n");
}

TEST(Table, RowsHaveTheColumnsNumberOfCells) {
  auto table = example();
  table.rows.push_back({std::string("short")});
  EXPECT_THROW(render_text(table, false), ContractError);
}

}  // namespace
}  // namespace arenagrad::cli
