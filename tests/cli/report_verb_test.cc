#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "cli/report/assets.h"
#include "cli/report/html.h"
#include "tests/cli/support.h"

namespace arenagrad::test {
namespace {

using cli::Json;

class Report : public testing::Test {
 protected:
  void SetUp() override {
    if (cli::kDygraphsScript.empty()) GTEST_SKIP() << "built without dygraphs";
  }

  std::string made(const std::string& name, std::vector<std::string> arguments) {
    const auto path = folder_.path(name);
    arguments.insert(arguments.end(), {"--json", path, "--quiet"});
    EXPECT_EQ(arenagrad(arguments).code, 0);
    return path;
  }
  std::string page(std::vector<std::string> inputs) {
    inputs.insert(inputs.begin(), "report");
    inputs.insert(inputs.end(), {"-o", "-"});
    const auto outcome = arenagrad(inputs);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }

  TemporaryFolder folder_;
};

TEST_F(Report, HasAllOfARunAndLoadsNothing) {
  const auto run = made("run.json", {"run", "lenet5", "--batch", "2", "--events"});
  const auto html = page({run});
  for (const char* part :
       {"default-src 'none'", "Memory over time", "Where buffers lie", "Which layers hold it",
        "Where the bytes go", "class=\"still\"", "conv2 workspace", "Dan Vanderkam"})
    EXPECT_TRUE(contains(html, part)) << part;
  for (const char* part : {"sourceMappingURL", "<script src=", "<link", "@import", "What if?"})
    EXPECT_FALSE(contains(html, part)) << part;
  // The document is in it as it is.
  const std::string begin = "class=\"document\">";
  const auto from = html.find(begin) + begin.size();
  EXPECT_EQ(Json::parse(html.substr(from, html.find("</script>", from) - from)),
            Json::parse(read_file(run)));
}

TEST_F(Report, ExplainsTheDifferenceOfTwoRuns) {
  const auto a = made("a.json", {"plan", "lenet5", "--batch", "4", "--events"});
  const auto b = made("b.json", {"plan", "lenet5", "--batch", "6", "--events"});
  const auto html = page({a, b});
  const auto peak = [](const std::string& path) {
    return Json::parse(read_file(path))["bytes"]["peak_requested"].get<std::int64_t>();
  };
  EXPECT_TRUE(contains(html, "what makes the difference"));
  EXPECT_TRUE(contains(
      html, cli::shown(cli::Bytes{static_cast<std::size_t>(std::llabs(peak(b) - peak(a)))})));
  EXPECT_TRUE(contains(html, "settings that differ"));
}

TEST_F(Report, HasSweepsComparisonsAndSummaries) {
  const auto html =
      page({made("s.json", {"sweep", "lenet5", "--batches", "1:4"}),
            made("c.json", {"compare", "lenet5", "--batch", "2", "--reference", "none"}),
            made("l.json", {"summary", "lenet5"}), made("p.json", {"plan", "lenet5"})});
  for (const char* part : {"Bytes against the batch", "What if?", "Ways to the same gradient",
                           "Layer by layer", "Where the bytes go"})
    EXPECT_TRUE(contains(html, part)) << part;
}

TEST_F(Report, HasWaysToRecompute) {
  const auto sweep = page(
      {made("s.json", {"sweep", "lenet5", "--batches", "4", "--modes", "per-step", "--frontier"})});
  for (const char* part :
       {"Memory against time", "memory against time: ways to recompute", "The peak at batch 4",
        "the peak of each way to recompute", "every:1, 1.333 times"})
    EXPECT_TRUE(contains(sweep, part)) << part;
  const auto fit = page({made("f.json", {"fit", "lenet5", "--memory", "8MiB", "--frontier"})});
  EXPECT_TRUE(contains(fit, "the largest batch with each way to recompute"));
  EXPECT_TRUE(contains(fit, "<th scope=\"row\">every:1</th>"));
  EXPECT_FALSE(contains(page({made("p.json", {"sweep", "lenet5", "--batches", "2"})}),
                        "Memory against time"));
}

/// A panel doesn't put into one line what was made under other settings.
TEST_F(Report, KeepsSweepsApart) {
  const auto sweep = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"sweep", "lenet5", "--batches", "1:3", "--optimizer", "adam"});
    return made(name, more);
  };
  const auto one = sweep("1.json", {"--steps", "1"}), two = sweep("2.json", {"--steps", "2"});
  const auto of = [](const std::string& html) {
    const std::string begin = "class=\"made\">";
    const auto from = html.find(begin) + begin.size();
    return Json::parse(html.substr(from, html.find("</script>", from) - from));
  };
  const auto html = page({one, two});
  const auto made = of(html);
  EXPECT_EQ(made["steps"], (Json{"1", "2"}));
  EXPECT_EQ(made["model"], (Json{"lenet5", "lenet5"}));
  EXPECT_EQ(made["spec"][0], made["spec"][1]);
  EXPECT_TRUE(contains(html, "<th scope=\"col\">steps</th>"));
  EXPECT_TRUE(contains(html, "All were made under: model lenet5, spec "));
  EXPECT_TRUE(contains(page({two}), ", steps 2, "));
  const auto gpu = page({sweep("h.json", {"--device", "h200", "--workspace", "none"}),
                         sweep("l.json", {"--device", "h200", "--layout", "nhwc"})});
  EXPECT_EQ(of(gpu)["engines"], (Json{"--workspace none", ""}));
  EXPECT_EQ(of(gpu)["layout"], (Json{"nchw", "nhwc"}));
  // What is planned on the spot says as much of itself.
  const auto both = of(page({two, "--what-if", "lenet5", "--batches", "2"}));
  for (const auto& [name, values] : both.items())
    EXPECT_EQ(std::count(values.begin(), values.end(), values[0]), 9) << name << ": " << values;
}

TEST_F(Report, DoesNotOverwriteWhatItReads) {
  const auto plan = made("p.json", {"plan", "lenet5"});
  const auto before = read_file(plan);
  const auto link = folder_.path("link.json");
  std::filesystem::create_symlink(plan, link);
  const auto hard = folder_.path("hard.json");
  std::filesystem::create_hard_link(plan, hard);
  const auto folder = std::filesystem::path(plan).parent_path().string();
  for (const auto& path : {plan, folder + "/./p.json", link, hard}) {
    const auto outcome = arenagrad({"report", plan, "-o", path});
    EXPECT_EQ(outcome.code, 2) << path;
    EXPECT_TRUE(contains(outcome.err, "-o: expected a file that isn't read here")) << outcome.err;
  }
  const auto out = folder_.path("p.html");
  EXPECT_EQ(arenagrad({"report", plan, "-o", out, "--json", plan}).code, 2);
  EXPECT_EQ(arenagrad({"report", plan, "-o", out, "--json", folder + "/./p.html"}).code, 2);
  const auto spec = folder_.write("spec.json", read_file(zoo("lenet5")));
  EXPECT_EQ(arenagrad({"report", plan, "--what-if", spec, "-o", spec}).code, 2);
  EXPECT_EQ(read_file(plan), before);
  EXPECT_EQ(read_file(spec), read_file(zoo("lenet5")));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Report, PlansWhatIf) {
  const auto plan = made("p.json", {"plan", "lenet5"});
  const auto html = page({plan, "--what-if", "lenet5", "--batches", "2:3", "--inputs", "28,36"});
  EXPECT_TRUE(contains(html, "What if?"));
  for (const char* part : {"1x36x36", "two-pass", "pytorch", "sgd, momentum 0.9", "adam"})
    EXPECT_TRUE(contains(html, part)) << part;
  EXPECT_EQ(arenagrad({"report", plan, "--batches", "2:3", "-o", "-"}).code, 2);
  EXPECT_EQ(arenagrad({"report", plan, "--what-if", "nonsense", "-o", "-"}).code, 2);
}

/// A mode that the model refuses is left out, with the reason.
TEST_F(Report, PlansWhatIfOfAModelWithBatchStatistics) {
  const auto spec = folder_.write("bn.json", R"({
    "name": "bn", "input": [1, 8, 8], "classes": 2,
    "layers": [{"name": "conv", "op": "conv2d", "out_channels": 2, "kernel": 3},
               {"name": "bn", "op": "batch_norm"},
               {"name": "flatten", "op": "flatten"},
               {"name": "fc", "op": "linear", "out_features": 2}]})");
  const auto html =
      page({made("p.json", {"plan", "lenet5"}), "--what-if", spec, "--batches", "2:3"});
  EXPECT_TRUE(contains(html, "Without two-pass: two-pass runs every micro-batch twice"));
  EXPECT_TRUE(contains(html, "per-step"));
}

/// Points of a panel have the bytes of `plan`.
TEST_F(Report, PlansWhatIfAsPlanDoes) {
  const auto plan = made("p.json", {"plan", "lenet5"});
  const auto html = page({plan, "--what-if", "lenet5", "--batches", "3"});
  const std::string begin = "class=\"document\">";
  std::size_t compared = 0;
  for (auto from = html.find(begin); from != std::string::npos; from = html.find(begin, from)) {
    from += begin.size();
    const auto json = nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
    if (json["schema"] != "arenagrad.sweep/1") continue;
    const auto& update = json["optimizer_settings"];
    for (const auto& point : json["points"]) {
      std::vector<std::string> arguments = {"plan",        "lenet5",
                                            "--batch",     "3",
                                            "--steps",     "2",
                                            "--json",      "-",
                                            "--mode",      point["mode"].get<std::string>(),
                                            "--policy",    json["policy"].get<std::string>(),
                                            "--optimizer", update["kind"].get<std::string>()};
      if (update.contains("momentum") && update["momentum"] != 0)
        arguments.insert(arguments.end(), {"--momentum", update["momentum"].dump()});
      const auto planned = arenagrad(arguments).json();
      EXPECT_EQ(point["bytes"]["peak_requested"], planned["bytes"]["peak_requested"]);
      EXPECT_EQ(point["bytes"]["by_category_at_peak"], planned["bytes"]["by_category_at_peak"]);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 32u);  // modes x policies x optimizers
}

TEST_F(Report, ShowsARunThatDidNotFit) {
  const auto path = folder_.path("p.json");
  const auto out = arenagrad({"plan", "lenet5", "--capacity", "2MiB", "--events", "--json", path});
  EXPECT_EQ(out.code, 3);
  const auto html = page({path});
  EXPECT_TRUE(contains(html, "does not fit"));
  EXPECT_TRUE(contains(html, "Memory over time"));
}

TEST_F(Report, WritesAFileAndSaysSo) {
  const auto plan = made("p.json", {"plan", "lenet5", "--events"});
  const auto out = folder_.path("report.html");
  const auto json = arenagrad({"report", plan, "-o", out, "--json", "-"}).json();
  EXPECT_EQ(json["schema"], "arenagrad.report/1");
  EXPECT_EQ(json["page"]["bytes"], read_file(out).size());
  EXPECT_EQ(json["inputs"][0]["verb"], "plan");
}

TEST_F(Report, RefusesOtherFiles) {
  const auto file = [&](const std::string& text) { return folder_.write("x.json", text); };
  const auto refused = [&](const std::string& path, const std::string& why) {
    const auto outcome = arenagrad({"report", path, "-o", "-"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(contains(outcome.err, why)) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, path)) << outcome.err;
  };
  refused(folder_.path("none.json"), "expected a file");
  refused(file("no json"), "expected JSON");
  refused(file("{}"), "expected a schema");
  refused(file("[]"), "expected a schema");
  refused(file(R"({"schema": "arenagrad.models/1"})"), "expected JSON of plan, run");
  refused(file(R"({"schema": "arenagrad.run/1", "timeline": {}})"), "timeline");
  refused(file(R"({"schema": "arenagrad.run/1", "bytes": {}})"), "by_category_at_peak");
  refused(file(R"({"schema": "arenagrad.run/1"})"), "lacks something: key 'bytes'");
  auto sweep = Json::parse(read_file(made("s.json", {"sweep", "lenet5", "--batches", "2"})));
  sweep.erase("optimizer_settings");
  refused(file(sweep.dump()), "optimizer_settings");
  const auto fit = made("fit.json", {"fit", "lenet5", "--memory", "8MiB", "--max", "4"});
  refused(fit, "got fit without ways to recompute");
  const auto lacking = file(R"({"schema": "arenagrad.plan/1", "bytes": {}})");
  const auto two = arenagrad({"report", made("p.json", {"plan", "lenet5"}), lacking, "-o", "-"});
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(contains(two.err, lacking)) << two.err;
  EXPECT_EQ(arenagrad({"report", "x.json"}).code, 2);  // no -o
}

TEST(ReportHtml, TextCannotBecomeMarkup) {
  EXPECT_EQ(cli::escaped("<a b=\"c\" d='e'>&"), "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;");
  const auto data = cli::script_data(Json{{"name", "</script><!--\xff"}});
  EXPECT_FALSE(contains(data, "<"));
  EXPECT_EQ(Json::parse(data)["name"], "</script><!--\xef\xbf\xbd");
}

}  // namespace
}  // namespace arenagrad::test
