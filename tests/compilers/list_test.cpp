// What adding a compiler touches, and how it is named where compilers are chosen.
#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "tests/compilers/added_compiler_fixture.h"

namespace fusescope::test {
namespace {

namespace fs = std::filesystem;

std::string textOf(const fs::path& path) {
  return readTextFile(path.string()).value();
}

TEST(AddedCompilerSources, AreAFolderAndOneLineOfTheList) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  const std::string list = textOf(root / "core/compilers/compilers.inc");
  EXPECT_EQ(textOf(fs::path(FUSESCOPE_LISTS) / "compilers/compilers.inc"), list + "COMPILER(abacus)\n");
  std::vector<std::string> sources;
  for (const auto& entry : fs::directory_iterator(root / "tests/compilers"))
    if (entry.path().filename().string().starts_with("abacus")) sources.push_back(entry.path().filename().string());
  std::ranges::sort(sources);
  EXPECT_EQ(sources, (std::vector<std::string>{"abacus_child.h", "abacus_compiler.cpp", "abacus_process.cpp"}))
      << "with the line of the list these are four";
}

TEST(AddedCompilerSources, AreAllThatNamesIt) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  std::size_t read = 0;
  for (const char* folder : {"core", "app", "ui", "cmake"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string text = textOf(entry.path());
      ++read;
      for (const char* name : {"abacus", "Abacus", "ABACUS"})
        EXPECT_EQ(text.find(name), std::string::npos) << entry.path() << " names " << name;
    }
  EXPECT_GT(read, 500U);
}

using CompilerList = AddedCompiler;

TEST_F(CompilerList, NamesBothAndWhatEachCanDo) {
  const Json json = this->json({"compilers"});
  ASSERT_EQ(json["compilers"].size(), 2U);
  const Json& ours = json["compilers"][0];
  const Json& abacus = json["compilers"][1];
  EXPECT_EQ(ours["name"], "fusescope");
  EXPECT_TRUE(ours["cannot"].empty());
  EXPECT_EQ(abacus["name"], "abacus");
  EXPECT_EQ(abacus["version"], "1.0");
  EXPECT_EQ(abacus["target"], "cpu");
  EXPECT_EQ(fs::path(abacus["environment"].get<std::string>()).filename(), "abacus_process");
  EXPECT_EQ(abacus["can"], Json::array({"support", "compile", "read_back", "run", "time", "profile", "keep"}));
  ASSERT_EQ(abacus["cannot"].size(), 1U);
  EXPECT_EQ(abacus["cannot"][0]["ability"], "inner_values");
  EXPECT_EQ(abacus["cannot"][0]["why"], "abacus hands out what a network gives, and nothing inside it.");
}

TEST_F(CompilerList, SaysToPeopleWhyNot) {
  const ProcessResult printed = command({"compilers"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  for (const char* said : {"fusescope", "built in", "abacus", "abacus cannot inner_values: abacus hands out"})
    EXPECT_NE(printed.out.find(said), std::string::npos) << said << "\n" << printed.out;
}

TEST_F(CompilerList, BadUseIsRefusedInWords) {
  const std::string model = sample("fp16_overflow");
  const auto refused = [&](std::vector<std::string> arguments, const std::string& words) {
    const ProcessResult result = command(arguments);
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_TRUE(result.out.empty()) << result.out;
  };
  refused({"plan", model, "--compiler", "abacsu"}, "there is no compiler 'abacsu'");
  refused({"plan", model, "--compiler", "abacsu"}, "The nearest is abacus.");
  refused({"plan", model, "--compiler", "abacus", "--target", "tensorrt-10"}, "--target");
  refused({"plan", model, "--compiler", "abacus", "--target", "tensorrt-10"}, "abacus compiles for target cpu");
  refused({"run", model, "--compiler", "abacus", "--backend", "reference"}, "--backend");
  refused({"errors", model, "--compiler", "abacus", "--precision", "f16", "--against", "f64"},
          "only be compared with float32");
}

}  // namespace
}  // namespace fusescope::test
