// The check itself: that it fails when a number, a file or a net is wrong.
#include "tests/numeric/check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "allocator/error.h"

namespace arenagrad::numeric {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A copy of one reference case, to be damaged.
class NumericCheck : public testing::Test {
 protected:
  NumericCheck() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    fs::copy(source_ / kCase, folder_ / kCase);
    document_ = json::parse(std::ifstream(source_ / "cases.json"));
    document_["cases"] = {{kCase, document_["cases"][kCase]}};
  }
  ~NumericCheck() override { fs::remove_all(folder_); }

  json& of() { return document_["cases"][kCase]; }

  bool check(std::optional<DType> dtype = DType::f64) {
    std::ofstream(folder_ / "cases.json") << document_;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> to(std::tmpfile(), std::fclose);
    const bool passed = check_folder(folder_.string(), dtype, to.get());
    report_.resize(static_cast<std::size_t>(std::ftell(to.get())));
    std::rewind(to.get());
    EXPECT_EQ(std::fread(report_.data(), 1, report_.size(), to.get()), report_.size());
    return passed;
  }

  /// The message of the Error that the check raises.
  std::string error() {
    try {
      check();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }

  /// Changes the first element of a float64 tensor by a relative 1e-9.
  void nudge(const std::string& file) {
    std::fstream stream(folder_ / kCase / file, std::ios::in | std::ios::out | std::ios::binary);
    constexpr int kHeader = 128;  // of numpy's for arrays of up to three dimensions
    double value = 0;
    stream.seekg(kHeader);
    stream.read(reinterpret_cast<char*>(&value), sizeof value);
    value += 1e-9 * (1 + std::abs(value));
    stream.seekp(kHeader);
    stream.write(reinterpret_cast<const char*>(&value), sizeof value);
    ASSERT_TRUE(stream.good()) << file;
  }

  static constexpr const char* kCase = "one_sample";
  fs::path source_ = fs::path(ARENAGRAD_SOURCE_DIR) / "tests/data/numeric_more";
  fs::path folder_ = fs::temp_directory_path() / ("arenagrad_check_" + std::to_string(getpid()));
  json document_;
  std::string report_;
};

TEST_F(NumericCheck, PassesAsItStands) {
  EXPECT_TRUE(check(std::nullopt)) << report_;
  EXPECT_NE(report_.find("1 cases, 12 runs, 0 failed: all within the limits"), std::string::npos)
      << report_;
}

TEST_F(NumericCheck, FailsForAnyWrongNumber) {
  struct Wrong {
    const char* file;
    const char* named;
  };
  for (const Wrong& wrong :
       {Wrong{"grad_f64.fc1.weight.npy", "gradients fc1.weight[0]"},
        Wrong{"act.whole.npy", "activations whole[0]"}, Wrong{"logits_f64.npy", "logits logits[0]"},
        Wrong{"input_grad_f64.npy", "input grad x[0]"},
        Wrong{"after2_f64.fc2.bias.npy", "params 2 fc2.bias[0]"}}) {
    const fs::path file = folder_ / kCase / wrong.file;
    fs::copy_file(file, folder_ / "kept");
    nudge(wrong.file);
    EXPECT_FALSE(check()) << wrong.file;
    EXPECT_NE(report_.find(wrong.named), std::string::npos) << wrong.file << "\n" << report_;
    fs::remove(file);
    fs::rename(folder_ / "kept", file);
  }
  of()["losses_f64"][2] = of()["losses_f64"][2].get<double>() * (1 + 1e-9);
  EXPECT_FALSE(check());
  EXPECT_NE(report_.find("loss losses[2]"), std::string::npos) << report_;
}

TEST_F(NumericCheck, FailsForAnotherNetOrOptimizer) {
  of()["layers"][1]["in"] = {"x", "x"};
  EXPECT_FALSE(check());
  EXPECT_NE(report_.find("activations add0"), std::string::npos) << report_;
  of()["layers"][1]["in"] = {"x", "relu0"};
  EXPECT_TRUE(check());
  document_["sgd"]["momentum"] = 0.8;
  EXPECT_FALSE(check());
  EXPECT_NE(report_.find("params 2"), std::string::npos) << report_;
}

TEST_F(NumericCheck, NamesTheCaseAndWhatIsWrongWithIt) {
  const std::string where = (folder_ / "cases.json").string() + ": case one_sample: ";
  const json good = document_;
  const auto message = [&](const std::function<void(json&)>& damage) {
    document_ = good;
    damage(of());
    const std::string text = error();
    EXPECT_TRUE(text.starts_with(where)) << text;
    return text.substr(std::min(where.size(), text.size()));
  };
  EXPECT_EQ(message([](json& of) { of["layers"][1]["op"] = "multiply"; }),
            "layer 'add0': unknown op 'multiply'");
  EXPECT_EQ(message([](json& of) {
              of["layers"][1]["in"] = {"x", "nowhere"};
            }),
            "layer 'add0': no earlier layer 'nowhere'");
  EXPECT_EQ(message([](json& of) {
              of["layers"][1]["output_shape"] = {1, 2, 7, 4};
            }),
            "layer 'add0': expected output 2x7x4, got 2x7x5");
  EXPECT_EQ(message([](json& of) { of["mode"] = "test"; }),
            "mode: expected train or eval, got 'test'");
  EXPECT_EQ(message([](json& of) { of["files"]["params"].erase("fc1.weight"); }),
            "files: expected an entry for 'fc1.weight', got none");
  EXPECT_EQ(message([](json& of) { of["files"]["params"]["fc3.weight"] = json::object(); }),
            "files: the net has no parameter 'fc3.weight'");
  EXPECT_NE(message([](json& of) {
              of["files"]["input"] = "logits_f32.npy";
            }).find("expected shape [1, 2, 7, 5], got [1, 2]"),
            std::string::npos);
  EXPECT_NE(message([](json& of) { of["files"]["input"] = "missing.npy"; }).find("cannot read"),
            std::string::npos);
}

TEST_F(NumericCheck, AFolderWithoutCasesIsAnError) {
  document_["cases"] = json::object();
  EXPECT_NE(error().find("expected at least one case, got none"), std::string::npos) << error();
  EXPECT_THROW(check_folder("/nowhere", std::nullopt, stdout), Error);
}

}  // namespace
}  // namespace arenagrad::numeric
