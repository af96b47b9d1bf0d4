// What was checked and how it went: a line each on stdout, and all of it in a JSON file that is
// complete after every check.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace arenagrad::cuda_test {

using Json = nlohmann::ordered_json;

enum class Verdict { passed, failed, left_out };

/// Failed unless `passed`.
constexpr Verdict verdict(bool passed) { return passed ? Verdict::passed : Verdict::failed; }

class Report {
 public:
  /// `head` are the JSON file's first keys; the file is OUT_DIR/gpu_check.json.
  Report(std::string folder, Json head);

  /// Runs one check: `body` fills the details, "summary" among them (the rest of the line), and
  /// says how it went. Anything thrown is a failure and its summary.
  void check(const std::string& name, const std::function<Verdict(Json& details)>& body);

  /// A file of its own in OUT_DIR. Throws Error when it can't be written.
  void write(const std::string& file, const std::string& text) const;

  bool any_failed() const { return any_failed_; }

 private:
  std::string folder_;
  Json json_;
  bool any_failed_ = false;
};

}  // namespace arenagrad::cuda_test
