#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "allocator/traces/lives.h"
#include "tests/allocator/traces/python.h"
#include "tests/allocator/traces/support.h"

namespace arenagrad::testing {
namespace {

using Kind = TraceEvent::Kind;
using Json = nlohmann::json;

/// The snapshot as Python reads it, once it has passed the viewer's rules.
Json checked_by_python(const std::string& snapshot) {
  const Scratch scratch;
  const auto file = scratch.write("snapshot.pickle", snapshot);
  const auto output = output_of("python3 " + std::string(ARENAGRAD_SOURCE_DIR) +
                                "/tests/allocator/traces/check_snapshot.py " + file);
  EXPECT_TRUE(output.starts_with('{')) << output;
  return Json::parse(output, nullptr, false);
}

/// A snapshot that Python pickles, from an expression.
std::string pickled(const std::string& expression, int protocol = 4) {
  const Scratch scratch;
  const auto script =
      scratch.write("write.py", "import pickle, sys\nopen(sys.argv[1], 'wb').write(pickle.dumps(" +
                                    expression + ", " + std::to_string(protocol) + "))\n");
  EXPECT_EQ(output_of("python3 " + script + " " + scratch.path("p")), "");
  return scratch.read("p");
}

#define NEEDS_PYTHON() \
  if (!has_python()) GTEST_SKIP() << "python3 is not there to read pickles"

constexpr std::size_t kBase = 0x7f0000000000;

TEST(PyTorchSnapshot, PythonReadsTheWantedDict) {
  NEEDS_PYTHON();
  const auto trace = read_as("jsonl", R"({"arenagrad_trace":1,"name":"tiny","alignment":64}
{"op":"reserve","offset":0,"bytes":4194304}
{"op":"commit","offset":0,"bytes":4194304}
{"op":"scope","step":1,"phase":"forward","layer":"conv1"}
{"op":"allocate","id":7,"bytes":100,"granted":128,"offset":64,"category":"activation","name":"out"}
)");
  const Json snapshot = checked_by_python(write_as("pytorch", trace));
  const Json scope = {{"name", "conv1"}, {"filename", "forward"}, {"line", 1}};
  const Json none = {{"name", ""}, {"filename", ""}, {"line", 0}};
  const Json tensor = {{"name", "out"}, {"filename", "tensor"}, {"line", 7}};
  const auto event = [](const char* action, std::size_t size, int time, const char* category,
                        std::size_t address, Json frames) {
    return Json{{"action", action},    {"size", size},         {"stream", 0},
                {"time_us", time},     {"category", category}, {"compile_context", "N/A"},
                {"user_metadata", ""}, {"addr", address},      {"frames", std::move(frames)}};
  };
  Json alloc = event("alloc", 100, 4, "activation", kBase + 64, Json::array({tensor, scope}));
  alloc["granted"] = 128;
  EXPECT_EQ(snapshot["device_traces"],
            Json::array({Json::array(
                {event("segment_alloc", 4194304, 2, "unknown", kBase, Json::array({none})), alloc,
                 event("snapshot", 0, 4, "unknown", 0, Json::array({none}))})}));
  EXPECT_EQ(snapshot["external_annotations"],
            Json::parse(R"([{"device":0,"time_us":3,"name":"step 1","stage":"START"},
                            {"device":0,"time_us":3,"name":"forward","stage":"START"},
                            {"device":0,"time_us":4,"name":"forward","stage":"END"},
                            {"device":0,"time_us":4,"name":"step 1","stage":"END"}])"));
  const auto gap = [](std::size_t address, std::size_t size) {
    return Json{{"address", address},
                {"size", size},
                {"requested_size", 0},
                {"state", "inactive"},
                {"frames", Json::array()}};
  };
  const Json block = {{"address", kBase + 64},
                      {"size", 128},
                      {"requested_size", 100},
                      {"state", "active_allocated"},
                      {"frames", Json::array({tensor, scope})}};
  const Json segment = {
      {"device", 0},
      {"address", kBase},
      {"total_size", 4194304},
      {"allocated_size", 128},
      {"active_size", 128},
      {"requested_size", 100},
      {"stream", 0},
      {"segment_type", "large"},
      {"segment_pool_id", {0, 0}},
      {"is_expandable", false},
      {"frames", Json::array({{{"name", "segment"}, {"filename", "driver"}, {"line", 0}}})},
      {"blocks", Json::array({gap(kBase, 64), block, gap(kBase + 192, 4194304 - 192)})}};
  EXPECT_EQ(snapshot["segments"], Json::array({segment}));
  const Json& settings = snapshot["allocator_settings"];
  EXPECT_EQ(settings["max_split_size"], -1);
  EXPECT_EQ(settings["garbage_collection_threshold"], 0.0);
  EXPECT_EQ(settings["expandable_segments"], false);
  EXPECT_EQ(settings["PYTORCH_CUDA_ALLOC_CONF"], "");
  EXPECT_EQ(settings["roundup_power2_divisions"].size(), 17u);
  EXPECT_EQ(settings["roundup_power2_divisions"]["1"], 0);
}

TEST(PyTorchSnapshot, KeepsTheViewersRules) {
  NEEDS_PYTHON();
  checked_by_python(write_as("pytorch", read_as("jsonl", small_trace())));
  // No driver calls, no offsets; more events than one batch holds.
  std::ifstream in(std::string(ARENAGRAD_SOURCE_DIR) + "/tests/data/idealloc/resnet50.csv");
  std::ostringstream text;
  text << in.rdbuf();
  const Json large = checked_by_python(write_as("pytorch", read_as("minimalloc", text.str())));
  EXPECT_GT(large["device_traces"][0].size(), 2000u);
  // No driver calls, but offsets.
  const auto offsets = read_as("minimalloc", "id,lower,upper,size,offset\n1,0,9,4,0\n2,1,5,4,8\n");
  EXPECT_EQ(checked_by_python(write_as("pytorch", offsets))["segments"][0]["total_size"], 12);
  // Nothing at all.
  EXPECT_EQ(checked_by_python(
                write_as("pytorch", read_as("jsonl", "{\"arenagrad_trace\":1}")))["segments"],
            Json::array());
}

TEST(PyTorchSnapshot, NamesThatAreNotUtf8AreMended) {
  NEEDS_PYTHON();
  TraceLog trace;
  trace.begin({"\xff", 1});
  trace.event({.kind = Kind::allocate, .id = 1, .bytes = 8, .offset = 0, .name = "a\xed\xa0\x80z"});
  trace.end();
  const Json snapshot = checked_by_python(write_as("pytorch", trace));
  EXPECT_EQ(snapshot["device_traces"][0][0]["frames"][0]["name"], "a???z");
}

TEST(PyTorchSnapshot, ReadsItsOwnBack) {
  const auto trace = read_as("jsonl", small_trace());
  const auto again = read_as("pytorch", write_as("pytorch", trace));
  EXPECT_EQ(again.header().name, trace.header().name);
  EXPECT_EQ(again.header().alignment, 64u);
  // All but the address space that was reserved, and scopes in which nothing happened.
  const auto kept = [](TraceEvent& event) {
    return event.kind != Kind::reserve && event.kind != Kind::scope;
  };
  expect_equal(events_without(trace, kept), events_without(again, kept));
  // A second time nothing is lost.
  EXPECT_EQ(write_as("jsonl", read_as("pytorch", write_as("pytorch", again))),
            write_as("jsonl", again));
}

TEST(PyTorchSnapshot, ReadsARecordingThatBeganInTheMiddle) {
  NEEDS_PYTHON();
  const std::string snapshot = R"({
    'segments': [{'device': 0, 'address': 4096, 'total_size': 4096, 'stream': 0, 'blocks': [
        {'size': 512, 'requested_size': 500, 'state': 'active_allocated'},
        {'size': 512, 'requested_size': 512, 'state': 'inactive'},
        {'size': 1024, 'requested_size': 1000, 'state': 'active_pending_free'},
        {'size': 2048, 'requested_size': 0, 'state': 'inactive'}]}],
    'device_traces': [[], [
        {'action': 'free_requested', 'addr': 4608, 'size': 400, 'stream': 0, 'time_us': 10},
        {'action': 'free_completed', 'addr': 4608, 'size': 400, 'stream': 0, 'time_us': 11},
        {'action': 'alloc', 'addr': 5120, 'size': 1000, 'stream': 7, 'time_us': 12,
         'category': 'ACTIVATION',
         'frames': [{'name': 'malloc', 'filename': 'a.cpp', 'line': 1},
                    {'name': 'forward', 'filename': '/x/module.py', 'line': 2}]},
        {'action': 'oom', 'size': 99, 'device_free': 5, 'stream': 0, 'time_us': 13},
        {'action': 'snapshot', 'addr': 0, 'size': 0, 'stream': 0, 'time_us': 14}]],
    'external_annotations': [
        {'device': 1, 'time_us': 12, 'name': 'ProfilerStep#1', 'stage': 'START'},
        {'device': 0, 'time_us': 12, 'name': 'other', 'stage': 'START'},
        {'device': 1, 'time_us': 13, 'name': 'ProfilerStep#1', 'stage': 'END'}]
  })";
  std::string on_device_1 = snapshot;
  on_device_1.replace(on_device_1.find("'device': 0"), 11, "'device': 1");
  for (int protocol = 2; protocol <= 5; ++protocol) {
    const auto trace = read_as("pytorch", pickled(on_device_1, protocol));
    EXPECT_EQ(write_as("jsonl", trace), R"({"arenagrad_trace":1}
{"op":"allocate","id":0,"bytes":400,"offset":512,"time":0}
{"op":"allocate","id":1,"bytes":500,"granted":512,"offset":0,"time":0}
{"op":"free","id":0,"time":11}
{"op":"scope","phase":"ProfilerStep#1","layer":"forward","time":12}
{"op":"allocate","id":2,"bytes":1000,"offset":1024,"time":12}
{"op":"scope","time":13}
{"op":"refuse","id":0,"bytes":99,"time":13}
)");
  }
}

TEST(PyTorchSnapshot, SegmentsAreKeptWhenAllOfThemWereRecorded) {
  NEEDS_PYTHON();
  const auto trace = read_as("pytorch", pickled(R"({'segments': [
      {'device': 0, 'address': 8192, 'total_size': 4096, 'blocks': [
        {'size': 4096, 'requested_size': 4000, 'state': 'active_allocated'}]}],
    'device_traces': [[
        {'action': 'segment_alloc', 'addr': 4096, 'size': 4096},
        {'action': 'segment_free', 'addr': 4096, 'size': 4096},
        {'action': 'segment_map', 'addr': 8192, 'size': 4096},
        {'action': 'alloc', 'addr': 8192, 'size': 4000}]]})"));
  EXPECT_EQ(write_as("jsonl", trace), R"({"arenagrad_trace":1}
{"op":"reserve","offset":0,"bytes":4096,"time":0}
{"op":"commit","offset":0,"bytes":4096,"time":0}
{"op":"decommit","offset":0,"bytes":4096,"time":0}
{"op":"release","offset":0,"bytes":4096,"time":0}
{"op":"commit","offset":4096,"bytes":4096,"time":0}
{"op":"allocate","id":0,"bytes":4000,"offset":4096,"time":0}
)");
}

TEST(PyTorchSnapshot, ErrorsNameTheByte) {
  NEEDS_PYTHON();
  const auto error = [](const std::string& expression, const ReadTraceOptions& options = {}) {
    const auto text = error_of("pytorch", pickled(expression, 2), options);
    return text.substr(0, text.rfind(", at byte"));
  };
  const auto trace = [&](const std::string& events) {
    return error("{'device_traces': [[" + events + "]], 'segments': []}");
  };
  EXPECT_EQ(error("[1]"), "a snapshot: expected a dict, got something else");
  EXPECT_EQ(error("{}"), "a snapshot: expected the key 'device_traces', got none");
  EXPECT_EQ(error("{'device_traces': 5}"), "device_traces: expected a list, got something else");
  EXPECT_EQ(error("{'device_traces': [[]]}"),
            "a snapshot: expected a recorded history, got a trace without events");
  EXPECT_EQ(
      error("{'device_traces': [[1], [2]]}"),
      "a snapshot: expected events of one device, got those of 0 1 (choose one with --device)");
  EXPECT_EQ(error("{'device_traces': [[1], [2]]}", {.device = 2}),
            "device: expected one from 0 to 2 (exclusive), got 2");
  EXPECT_EQ(trace("7"), "an event: expected a dict, got something else");
  EXPECT_EQ(trace("{'action': 'malloc'}"), "action: expected one of a snapshot's, got 'malloc'");
  EXPECT_EQ(trace("{'action': 5}"), "action: expected text, got something else");
  EXPECT_EQ(trace("{'action': 'alloc', 'addr': 5}"), "expected the key 'size', got none");
  EXPECT_EQ(trace("{'action': 'alloc', 'addr': 5, 'size': -1}"),
            "size: expected a whole number from 0 to 1152921504606846976, got -1");
  EXPECT_EQ(trace("{'action': 'alloc', 'addr': 2**70, 'size': 1}"),
            "addr: expected a whole number from 0 to 1152921504606846976, got something else");
  EXPECT_EQ(trace("{'action': 'alloc', 'addr': 5, 'size': 0}"),
            "allocation of buffer 0: expected 1 to 1152921504606846976 bytes, got 0");
  EXPECT_EQ(trace("*[{'action': 'alloc', 'addr': 5, 'size': 1}] * 2"),
            "an event: expected each once, got the same again");
  EXPECT_EQ(
      trace("{'action': 'alloc', 'addr': 5, 'size': 2}, {'action': 'alloc', 'addr': 6, 'size': 2}"),
      "allocation of buffer 1: expected free memory, got [1, 3), of which live buffers hold some");
  EXPECT_EQ(trace("*[{'action': 'free_completed', 'addr': 5, 'size': 1} for i in range(2)]"),
            "free: expected an address that is allocated, got one that was freed already");
  EXPECT_EQ(error("{'device_traces': [[{'action': 'snapshot'}]], 'segments': [{'address': 0, "
                  "'total_size': 8, 'blocks': [{'size': 9, 'state': 'inactive'}]}]}"),
            "blocks: expected 8 bytes, as the segment has, got more");
  EXPECT_EQ(
      error("{'device_traces': [[{'action': 'snapshot', **{str(i): i for i in range(5000)}}]]}"),
      "a dict: expected at most 4096 keys, got 5001");
  EXPECT_TRUE(error_of("pytorch", pickled("{'device_traces': [[7]]}", 2)).ends_with(" of file"));
}

}  // namespace
}  // namespace arenagrad::testing
