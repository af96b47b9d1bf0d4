#include "tests/cuda/gpu_check/report.h"

#include <chrono>
#include <cstdio>
#include <fstream>

#include "allocator/error.h"

namespace arenagrad::cuda_test {
namespace {

struct Words {
  const char *line, *json;
};

constexpr Words words(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return {"ok      ", "passed"};
    case Verdict::failed: return {"FAILED  ", "failed"};
    case Verdict::left_out: break;
  }
  return {"left out", "left_out"};
}

}  // namespace

Report::Report(std::string folder, Json head) : folder_(std::move(folder)), json_(std::move(head)) {
  json_["checks"] = Json::array();
  write("gpu_check.json", json_.dump(2));
}

void Report::check(const std::string& name, const std::function<Verdict(Json& details)>& body) {
  Json details = Json::object();
  Verdict verdict = Verdict::failed;
  const auto begin = std::chrono::steady_clock::now();
  try {
    verdict = body(details);
  } catch (const std::exception& error) {
    details["summary"] = error.what();
  }
  const double took =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  any_failed_ = any_failed_ || verdict == Verdict::failed;
  const std::string summary = details.value("summary", "");
  details.erase("summary");
  std::printf("%s %s: %s\n", words(verdict).line, name.c_str(), summary.c_str());
  std::fflush(stdout);
  json_["checks"].push_back({{"name", name},
                             {"verdict", words(verdict).json},
                             {"took_seconds", took},
                             {"summary", summary},
                             {"details", std::move(details)}});
  write("gpu_check.json", json_.dump(2));
}

void Report::write(const std::string& file, const std::string& text) const {
  const std::string path = folder_ + "/" + file;
  std::ofstream out(path);
  out << text << '\n';
  if (!out.flush()) throw Error("cannot write " + path);
}

}  // namespace arenagrad::cuda_test
