#include <gtest/gtest.h>

#include <random>

#include "cli/report/assets.h"
#include "cli/report/phase_axis.h"
#include "tests/cli/support.h"

namespace arenagrad::cli {
namespace {

using test::arenagrad;
using test::contains;
using What = TimelineEvent::What;

constexpr std::uint32_t kSetup = 0, kForward = 1, kBackward = 2, kUpdate = 3, kTeardown = 4;

/// Events that happen in these scopes, each an allocation.
Timeline of(const std::vector<std::pair<std::int64_t, std::uint32_t>>& places) {
  Timeline timeline;
  timeline.scopes = {
      {"setup", -1}, {"forward", -1}, {"backward", -1}, {"update", -1}, {"teardown", -1}};
  timeline.kinds = {{"a", Category::activation, "", 1, -1, false}};
  for (const auto& [step, scope] : places)
    timeline.events.push_back({What::allocate, scope, step, -1,
                               static_cast<std::uint32_t>(timeline.events.size()), 0, 0, 1});
  return timeline;
}

std::vector<std::string> labels(const PhaseAxis& axis) {
  std::vector<std::string> all;
  for (const auto& slot : axis.slots) all.push_back(slot.label());
  return all;
}

using Events = std::vector<std::size_t>;

TEST(PhaseAxis, TurnsAndStepsHaveOnePlaceForBothRuns) {
  const auto whole = of({{0, kSetup}, {1, kForward}, {1, kBackward}, {1, kUpdate}, {0, kTeardown}});
  const auto turns = of({{0, kSetup},
                         {1, kForward},
                         {1, kBackward},
                         {1, kForward},
                         {1, kBackward},
                         {2, kForward},
                         {2, kBackward},
                         {0, kTeardown}});
  const auto axis = phase_axis(whole, turns);
  EXPECT_EQ(labels(axis), (std::vector<std::string>{"setup", "step 1, forward", "step 1, backward",
                                                    "step 1, update", "step 2, forward",
                                                    "step 2, backward", "teardown"}));
  EXPECT_EQ(axis.slots.front().begin, 0);
  for (std::size_t s = 1; s < axis.slots.size(); ++s)
    EXPECT_EQ(axis.slots[s].begin, axis.slots[s - 1].end);
  const auto& [a, b] = axis.stretches;
  EXPECT_EQ(b[1].events, (Events{2, 4}));
  EXPECT_EQ(b[2].events, (Events{3, 5}));
  EXPECT_EQ(b[3].events, Events{});
  EXPECT_EQ(b[3].held, 5u);  // no update: as backward left it
  EXPECT_EQ(a[4].events, Events{});
  EXPECT_EQ(a[4].held, 0u);  // no second step
  EXPECT_EQ(a[6].events, Events{5});
}

TEST(PhaseAxis, EveryEventHasAPlace) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> places[2];
    for (auto& run : places) {
      std::int64_t step = 1;
      for (int i = 0; i < 40; ++i) {
        step += random() % 8 == 0;
        run.emplace_back(step, random() % 3 + 1);
      }
    }
    const auto axis = phase_axis(of(places[0]), of(places[1]));
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(axis.stretches[i].size(), axis.slots.size());
      std::size_t events = 0;
      for (std::size_t s = 0; s < axis.slots.size(); ++s)
        for (const auto event : axis.stretches[i][s].events) {
          ++events;
          EXPECT_EQ(places[i][event - 1].first, axis.slots[s].step);
          EXPECT_EQ(of(places[i]).scopes[places[i][event - 1].second].phase, axis.slots[s].phase);
        }
      EXPECT_EQ(events, places[i].size());
    }
  }
}

class TwoRuns : public testing::Test {
 protected:
  void SetUp() override {
    if (kDygraphsScript.empty()) GTEST_SKIP() << "built without dygraphs";
  }
  /// A page of two plans of LeNet-5.
  std::string page(std::vector<std::string> a, std::vector<std::string> b) {
    return arenagrad({"report", plan("a.json", a), plan("b.json", b), "-o", "-"}).out;
  }
  std::string plan(const std::string& name, std::vector<std::string> more) {
    more.push_back("--events");
    return plan_alone(name, more);
  }
  /// Without events.
  std::string plan_alone(const std::string& name, const std::vector<std::string>& more,
                         int code = 0) {
    const auto path = folder_.path(name);
    std::vector<std::string> arguments = {"plan", "lenet5", "--quiet", "--json", path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(arenagrad(arguments).code, code);
    return path;
  }
  std::string report(const std::string& a, const std::string& b) {
    const auto outcome = arenagrad({"report", a, b, "-o", "-"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
  test::TemporaryFolder folder_;
};

/// The difference of the peaks is that of the phase in which both peak, and of the categories.
TEST_F(TwoRuns, AreExplainedPhaseByPhase) {
  const auto html = page({"--batch", "8"}, {"--batch", "8", "--mode", "per-step"});
  for (const char* part : {"the two runs, phase by phase", "step 1, forward",
                           "B keeps one forward of 1 sample at a "
                           "time, 8 times",
                           "A takes 8 samples at once", "mode, micro-batch", "class=\"slots\""})
    EXPECT_TRUE(contains(html, part)) << part;
  EXPECT_FALSE(contains(html, "share of the run"));
  const auto peak = [&](const char* name) {
    return Json::parse(test::read_file(folder_.path(name)))["bytes"]["peak_requested"]
        .get<std::int64_t>();
  };
  const auto difference =
      "-" + shown(Bytes{static_cast<std::size_t>(peak("a.json") - peak("b.json"))});
  const auto row = html.find("<th scope=\"row\">step 1, backward</th>");
  ASSERT_NE(row, std::string::npos);
  EXPECT_LT(html.find(difference, row), html.find("</tr>", row));
}

TEST_F(TwoRuns, NameTheSettingThatDiffers) {
  const std::vector<std::string> plain = {"--batch", "8"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), plain.begin(), plain.end());
    return page(plain, more);
  };
  EXPECT_TRUE(contains(with({"--policy", "pytorch"}), "B what PyTorch&#39;s autograd keeps"));
  EXPECT_TRUE(contains(with({"--recompute", "sqrt"}), "B the inputs of segments (sqrt)"));
  EXPECT_TRUE(contains(with({"--optimizer", "adam", "--steps", "2"}),
                       "The optimizer is none in A and adam in B"));
  EXPECT_TRUE(contains(with({"--input", "1x36x36"}), "A sample is 1x28x28 in A and 1x36x36 in B"));
  EXPECT_TRUE(contains(with({"--dtype", "f64"}), "A number is f32 in A and f64 in B"));
  EXPECT_TRUE(contains(page({"--device", "h200"}, {"--device", "h200", "--layout", "nhwc"}),
                       "Images lie as nchw in A and as nhwc in B"));
  EXPECT_TRUE(contains(with({"--recompute", "sqrt"}),
                       "B: lenet5, batch 8, full-batch, best-fit, "
                       "recompute sqrt"));
  const auto moved = with({"--strategy", "bump"});
  EXPECT_TRUE(contains(moved, "decides where buffers lie, not which are live"));
  EXPECT_TRUE(contains(moved, "Both peak at"));
  EXPECT_FALSE(contains(moved, "<ul class=\"why\">\n</ul>"));
  EXPECT_FALSE(contains(page(plain, plain), "class=\"why\""));  // nothing differs
}

/// Images are known from events: those of a run without any are not another size.
TEST_F(TwoRuns, CompareImagesThatBothKnow) {
  const auto with = plan("a.json", {"--steps", "1"});
  const auto without = plan_alone("b.json", {"--optimizer", "adam", "--steps", "2"});
  for (const auto& html : {report(with, without), report(without, with)}) {
    EXPECT_FALSE(contains(html, "A sample is"));
    EXPECT_FALSE(contains(html, "<li>image size"));
    EXPECT_TRUE(contains(html, "<td>optimizer; steps</td>"));
  }
}

TEST_F(TwoRuns, KeepNothingForABackwardThatIsNone) {
  const auto recomputing = page({"--no-grad"}, {"--recompute", "sqrt"});
  EXPECT_TRUE(
      contains(recomputing, "A keeps nothing for a backward, as it has none; B the inputs"));
  EXPECT_TRUE(contains(recomputing, "A has no backward"));
  EXPECT_FALSE(contains(recomputing, "everything that backward reads"));
  const auto html = page({"--no-grad", "--batch", "4"}, {"--batch", "8"});
  EXPECT_TRUE(contains(html,
                       "A takes 4 samples at once, forward alone, and keeps nothing for a "
                       "backward; B takes 8 samples at once and keeps one forward"));
  EXPECT_TRUE(contains(page({"--no-grad", "--mode", "per-step", "--micro-batch", "2"}, {}),
                       "A runs 4 forwards of 2 samples each, one after the other, and keeps "
                       "nothing for a backward"));
  EXPECT_TRUE(contains(page({"--no-grad"}, {"--policy", "pytorch"}),
                       "A keeps nothing, as it has no backward, B what PyTorch"));
  EXPECT_FALSE(
      contains(page({"--no-grad"}, {"--no-grad", "--policy", "pytorch"}), "class=\"why\""));
}

/// What is known of both is said where one has no peak.
TEST_F(TwoRuns, OfWhichOneDidNotFit) {
  const auto fits = plan("a.json", {"--steps", "1"});
  const auto peak =
      Json::parse(test::read_file(fits))["bytes"]["peak_requested"].get<std::size_t>();
  const auto stopped = plan_alone("b.json", {"--steps", "1", "--capacity", "2MiB", "--events"}, 3);
  const auto html = report(fits, stopped);
  const auto would = "B would peak at " + shown(Bytes{peak}) + " without a limit: the same.";
  for (const std::string& part :
       {std::string("B did not fit: out of memory in"), std::string("class=\"slots\""), would})
    EXPECT_TRUE(contains(html, part)) << part;
  EXPECT_FALSE(contains(html, "the peaks, by category"));
  const auto begin = html.find("settings that differ");
  ASSERT_NE(begin, std::string::npos);
  const auto settings = html.substr(begin, html.find("</table>", begin) - begin);
  EXPECT_TRUE(contains(settings, "capacity")) << settings;
  EXPECT_FALSE(contains(settings, "device")) << settings;  // the same: said elsewhere
  EXPECT_TRUE(contains(report(stopped, stopped), "A did not fit"));
}

TEST_F(TwoRuns, AreToldApartInTheContents) {
  const auto html = page({}, {"--batch", "4"});
  EXPECT_TRUE(contains(html, "<a href=\"#time-0\">Memory over time (A)</a>"));
  EXPECT_TRUE(contains(html, "<a href=\"#time-1\">Memory over time (B)</a>"));
}

}  // namespace
}  // namespace arenagrad::cli
