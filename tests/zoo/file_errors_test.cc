// Files that are no specs, and names that are no files.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/zoo/support.h"
#include "zoo/catalogue.h"

namespace arenagrad {
namespace {

namespace fs = std::filesystem;

class Files : public ::testing::Test {
 protected:
  Files() : folder_(fs::temp_directory_path() / ("arenagrad_zoo_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  static std::string error_of(const std::string& path) {
    try {
      load_model(path);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "read";
  }

  fs::path folder_;
};

TEST_F(Files, AreReadWholeAndNamed) {
  const std::string path = write("mine.json", net(R"({"op": "relu"})"));
  const Model model = load_model(path);
  EXPECT_EQ(model.name, "mine");
  EXPECT_EQ(model.path, path);
}

TEST_F(Files, ErrorsNameThem) {
  const std::string path = write("bad.json", net(R"({"op": "rleu"})"));
  EXPECT_EQ(error_of(path), path +
                                ": /layers/0/op: unknown op: expected one of the ops, found "
                                "'rleu' (did you mean 'relu'?)");
  const std::string broken = write("broken.json", "{\n  \"input\": [,]\n}");
  EXPECT_EQ(error_of(broken).find(broken + ":2:13: "), 0u) << error_of(broken);
}

TEST_F(Files, ThatCannotBeRead) {
  const std::string missing = (folder_ / "missing.json").string();
  EXPECT_EQ(error_of(missing), missing +
                                   ": cannot be opened: expected a JSON file, found: No such "
                                   "file or directory");
  EXPECT_EQ(error_of(folder_.string()),
            folder_.string() + ": cannot be read: expected a JSON file, found: Is a directory");
  const std::string empty = write("empty.json", "");
  EXPECT_EQ(error_of(empty), empty +
                                 ":1:1: expected a JSON object, found nothing: the text is "
                                 "empty");
  EXPECT_EQ(error_of("/dev/zero"), "/dev/zero: too long: expected at most 4 MiB, found more");
  if (geteuid() != 0) {  // root reads everything
    const std::string locked = write("locked.json", "{}");
    chmod(locked.c_str(), 0);
    EXPECT_NE(error_of(locked).find("Permission denied"), std::string::npos);
  }
}

TEST_F(Files, UnknownZooNamesHaveAHint) {
  EXPECT_EQ(error_of("resnet5O"),
            "resnet5O: no such model: expected a spec's file or the name of a model in the zoo, "
            "found neither (did you mean 'resnet50'?)");
}

TEST(Catalogue, ZooNamesComeBeforeFiles) {
  EXPECT_EQ(resolve_spec("-"), "-");
  EXPECT_EQ(resolve_spec("./resnet18"), "./resnet18");
  EXPECT_EQ(resolve_spec("resnet18.json"), "resnet18.json");
  EXPECT_EQ(resolve_spec("resnet18"), (*zoo_folder() / "resnet18.json").string());
}

}  // namespace
}  // namespace arenagrad
