// Pictures: the script for gnuplot, and what gnuplot makes of it where it is here.
#include "cli/plot.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <sstream>

#include "cli/gnuplot.h"
#include "tests/cli/support.h"

namespace arenagrad {
namespace {

using test::arenagrad;
using test::contains;
using test::TemporaryFolder;

bool gnuplot_is_here() { return std::system("gnuplot --version >/dev/null 2>&1") == 0; }

/// The rows between "$NAME << END" and "END", as numbers.
std::vector<std::vector<double>> block_of(const std::string& script, const std::string& name) {
  std::vector<std::vector<double>> rows;
  bool inside = false;
  for (const auto& line : test::lines(script)) {
    if (line == "END") inside = false;
    if (inside) {
      std::istringstream words(line);
      rows.emplace_back();
      for (std::string word; words >> word;) rows.back().push_back(std::atof(word.c_str()));
    }
    if (line == "$" + name + " << END") inside = true;
  }
  return rows;
}

TEST(Plot, StacksFromTheHighestSumDown) {
  cli::Plot plot{.kind = cli::Plot::Kind::areas, .title = "t", .x_title = "x", .bytes_title = "b"};
  plot.x = {1, 2};
  plot.series = {{"low", "#111111", {1000, 3000}}, {"high", "#222222", {10, 4000}}};
  const auto script = cli::gnuplot_script(plot);
  EXPECT_TRUE(contains(script, "1 1000 10\n2 3000 4000\nEND\n")) << script;
  const auto both = script.find("using 1:(($2+$3)/unit)"), one = script.find("using 1:(($2)/unit)");
  ASSERT_NE(both, std::string::npos) << script;
  ASSERT_NE(one, std::string::npos) << script;
  EXPECT_LT(both, one);
  EXPECT_TRUE(contains(script, "unit = 1024.0\n")) << script;
  EXPECT_TRUE(contains(script, "set ylabel 'b (KiB)'\n")) << script;
}

TEST(Plot, TextsAreQuotedAndStayOnOneLine) {
  cli::Plot plot{.title = "it's\n'`date`' \xff", .x_title = "x", .bytes_title = "b"};
  plot.x = {1, 2};
  plot.series = {{"a", "#111111", {1, std::nullopt}}};
  const auto script = cli::gnuplot_script(plot);
  EXPECT_TRUE(contains(script, "set title 'it''s ''`date`'' ?'\n")) << script;
  EXPECT_TRUE(contains(script, "2 NaN\n")) << script;
}

TEST(Plot, ASweepDrawsItsPoints) {
  const TemporaryFolder folder;
  const auto file = folder.path("sweep.gp");
  const auto result = arenagrad({"sweep", "lenet5", "--batches", "2:5", "--capacity", "2600KiB",
                                 "--format", "json", "--plot", file});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto points = result.json()["points"];
  const auto rows = block_of(test::read_file(file), "data");
  ASSERT_EQ(rows.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows[i][0], points[i]["batch"].get<double>());
    // The last column is the footprint.
    EXPECT_EQ(std::accumulate(rows[i].begin() + 1, rows[i].end() - 1, 0.0),
              points[i]["bytes"]["peak_requested"].get<double>());
    if (points[i]["fits"])
      EXPECT_EQ(rows[i].back(), points[i]["bytes"]["footprint"].get<double>());
    else
      EXPECT_NE(rows[i].back(), rows[i].back());  // NaN
  }
  EXPECT_TRUE(contains(test::read_file(file), "title 'capacity, 2.54 MiB'"));
}

TEST(Plot, AComparisonAndTheLabAreBars) {
  const TemporaryFolder folder;
  const auto file = folder.path("bars.gp");
  const auto compared = arenagrad({"compare", "lenet5", "--batch", "4", "--reference", "none",
                                   "--threads", "1", "--format", "json", "--plot", file});
  ASSERT_EQ(compared.code, 0) << compared.err;
  auto script = test::read_file(file);
  auto rows = block_of(script, "data");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(std::accumulate(rows[2].begin() + 1, rows[2].end(), 0.0),
            compared.json()["modes"]["per-step"]["bytes"]["peak_requested"].get<double>());
  EXPECT_TRUE(contains(script, "'per-step' 2)")) << script;

  const auto lab = arenagrad(
      {"allocators", "lenet5", "--only", "best-fit,caching", "--format", "json", "--plot", file});
  ASSERT_EQ(lab.code, 0) << lab.err;
  script = test::read_file(file);
  rows = block_of(script, "data");
  ASSERT_EQ(rows.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(std::accumulate(rows[i].begin() + 1, rows[i].end(), 0.0),
              lab.json()["rows"][i]["footprint"].get<double>());
  EXPECT_TRUE(contains(script, "title 'lower bound, ")) << script;
}

TEST(Plot, AFrontierDrawsAllChoicesAndAPathThroughTheOptimal) {
  const TemporaryFolder folder;
  const auto file = folder.path("frontier.gp");
  const auto swept =
      arenagrad({"sweep", "lenet5", "--batches", "8", "--modes", "full-batch,per-step",
                 "--capacity", "3MiB", "--frontier", "--format", "json", "--plot", file});
  ASSERT_EQ(swept.code, 0) << swept.err;
  auto script = test::read_file(file);
  std::vector<std::pair<double, double>> all, optimal;
  const auto swept_json = swept.json();
  for (const auto& one : swept_json["frontier"]) {
    if (one["mode"] != "per-step") continue;
    all.emplace_back(one["times"], one["bytes"]["peak_requested"]);
    if (one["optimal"]) optimal.push_back(all.back());
  }
  const auto expect_same = [&](const std::string& block, const auto& expected) {
    const auto drawn = block_of(script, block);
    ASSERT_EQ(drawn.size(), expected.size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      EXPECT_NEAR(drawn[i][0], expected[i].first, 1e-6);
      EXPECT_EQ(drawn[i][1], expected[i].second);
    }
  };
  ASSERT_LT(optimal.size(), all.size());
  EXPECT_TRUE(contains(script, "set label 'none' at first 1.000000,")) << script;
  expect_same("path1", all);
  expect_same("frontier1", optimal);
  EXPECT_TRUE(contains(script, "title 'capacity, 3.00 MiB'")) << script;

  const auto fitted = arenagrad(
      {"fit", "lenet5", "--memory", "4MiB", "--frontier", "--format", "json", "--plot", file});
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  script = test::read_file(file);
  all.clear();
  const auto fitted_json = fitted.json();
  for (const auto& way : fitted_json["frontier"])
    all.emplace_back(way["times"], way["largest_batch"]);
  expect_same("path0", all);
  EXPECT_TRUE(contains(script, "unit = 1.0\n")) << script;
  EXPECT_TRUE(contains(script, "set ylabel 'largest batch (samples)'\n")) << script;
}

TEST(Plot, LabelsDoNotLieOnEachOther) {
  cli::Plot plot{.kind = cli::Plot::Kind::points, .x_title = "x"};
  for (const char* mode : {"a", "b", "c"})
    plot.paths.push_back(
        {mode, "#111111", {{1, 1000, "none", true}, {1.3, 500, std::string("at ") + mode, true}}});
  plot.paths[2].points[1].y = 100;
  const auto script = cli::gnuplot_script(plot);
  // Above the point, then below it, then not at all; elsewhere as if nothing were there.
  const auto count = [&](const std::string& part) {
    int found = 0;
    for (const auto& line : test::lines(script)) found += contains(line, part);
    return found;
  };
  EXPECT_EQ(count("set label 'none'"), 2) << script;
  EXPECT_EQ(count("set label 'none' at first 1.000000,1000/unit left offset character 0.6,0.5"), 1);
  EXPECT_EQ(count("set label 'none' at first 1.000000,1000/unit left offset character 0.6,-0.6"),
            1);
  EXPECT_EQ(count("set label 'at a' at first 1.300000,500/unit left offset character 0.6,0.5"), 1);
  EXPECT_EQ(count("set label 'at b' at first 1.300000,500/unit left offset character 0.6,-0.6"), 1);
  EXPECT_EQ(count("set label 'at c' at first 1.300000,100/unit left offset character 0.6,0.5"), 1);
}

TEST(Plot, GnuplotDrawsEachKind) {
  if (!gnuplot_is_here()) GTEST_SKIP() << "no gnuplot (package gnuplot-nox)";
  const TemporaryFolder folder;
  const auto file = folder.write("picture.svg", "old"), script = folder.path("picture.gp");
  const std::vector<std::vector<std::string>> commands = {
      {"sweep", "lenet5", "--batches", "1:9"},
      {"sweep", "lenet5", "--batches", "4"},
      {"sweep", "lenet5", "--batches", "1,2,5", "--modes", "full-batch,per-step"},
      {"sweep", "resnet18", "--inputs", "32,64", "--batch", "2", "--capacity", "1GiB"},
      {"sweep", "lenet5", "--batches", "4", "--modes", "full-batch,per-step", "--frontier"},
      {"fit", "lenet5", "--memory", "4MiB", "--frontier"},
      {"compare", "lenet5", "--batch", "4", "--reference", "none", "--threads", "1"},
      {"allocators", "lenet5", "--only", "best-fit,plan:search"}};
  for (auto words : commands) {
    words.insert(words.end(), {"--quiet", "--plot", file});
    const auto result = arenagrad(words);
    ASSERT_EQ(result.code, 0) << words[0] << ": " << result.err;
    const auto svg = test::read_file(file);
    EXPECT_TRUE(svg.starts_with("<?xml")) << svg.substr(0, 40);
    EXPECT_TRUE(contains(svg, "</svg>"));
    EXPECT_TRUE(contains(svg, ">lenet5") || contains(svg, ">resnet18")) << "no title";
    words.back() = script;
    ASSERT_EQ(arenagrad(words).code, 0);
    // The picture carries what it was drawn from.
    EXPECT_TRUE(contains(svg, "<![CDATA[\n" + test::read_file(script) + "]]>")) << words[0];
  }
}

TEST(Plot, GnuplotsRefusalIsAnError) {
  if (!gnuplot_is_here()) GTEST_SKIP() << "no gnuplot (package gnuplot-nox)";
  const auto message = test::message_of([] { cli::drawn("plot nonsense(\n", "t"); });
  EXPECT_TRUE(message.starts_with("--plot: expected gnuplot to draw, got: ")) << message;
}

TEST(Plot, OtherEndingsAreRefusedBeforeTheWork) {
  const auto result = arenagrad({"sweep", "lenet5", "--plot", "picture.png"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_TRUE(
      contains(result.err, "--plot: expected a file that ends in .svg or .gp, got 'picture.png'"))
      << result.err;
  EXPECT_EQ(arenagrad({"plan", "lenet5", "--plot", "picture.gp"}).code, 2);
}

}  // namespace
}  // namespace arenagrad
