// What tally compiled is loaded by the next process that runs it, unless loading takes longer or fails.
#include <algorithm>

#include "tests/probed/kept_answers_fixture.h"

namespace fusescope::test {
namespace {

class KeptCompiledNetworks : public KeptAnswers {
 protected:
  KeptCompiledNetworks() {
    ::setenv("FUSESCOPE_TEST_REQUESTS", file("requests").c_str(), 1);
    plantFault("slow compile");
  }
  ~KeptCompiledNetworks() override { ::unsetenv("FUSESCOPE_TEST_REQUESTS"); }

  void plantFault(const std::string& fault) const { plantHere("'FUSESCOPE_TEST_TALLY=" + fault + "'"); }
  Json run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"time", network(), "--compiler", "tally", "--seconds", "0.01", "--warmup", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json(arguments);
  }
  /// Returns which operations reached the compiler since the last call, without those that open it and run.
  std::vector<std::string> asked() const {
    std::vector<std::string> ops;
    std::ifstream lines(file("requests"));
    for (std::string line; std::getline(lines, line);)
      if (std::string op = Json::parse(line)["op"]; op != "open") ops.push_back(std::move(op));
    std::filesystem::remove(file("requests"));
    return ops;
  }
  static bool says(const Json& run, const char* code) { return !entryOf(run["decisions"], "code", code).is_null(); }
  static std::int64_t compiledKept() {
    const Json list = kept();
    return std::ranges::count_if(list["entries"], [](const Json& entry) { return entry["kind"] == "compiled"; });
  }
  using Ops = std::vector<std::string>;
};

TEST_F(KeptCompiledNetworks, AreLoadedByTheNextProcessThatRunsThem) {
  const Json first = run();
  EXPECT_EQ(asked(), (Ops{"support", "compile", "save"}));
  EXPECT_TRUE(says(first, "cache.compiled_saved")) << first["decisions"];
  const Json second = run();
  EXPECT_EQ(asked(), Ops{"load"});
  const Json said = entryOf(second["decisions"], "code", "cache.compiled_loaded")["arguments"];
  EXPECT_EQ(said["where"], "disk") << second["decisions"];
  EXPECT_LT(said["load_ms"], said["took_ms"]);
  EXPECT_TRUE(says(second, "cache.found"));
  expectSameNumbers(network());
  EXPECT_EQ(asked(), Ops{"load"});
}

TEST_F(KeptCompiledNetworks, AreNotSavedByWhoOnlyReadsBack) {
  std::ignore = plan();
  std::ignore = json({"build", network(), "--compiler", "tally", "-o", file("e.fse")});
  EXPECT_EQ(compiledKept(), 0);
  std::ignore = asked();
  std::ignore = run();
  EXPECT_EQ(asked(), (Ops{"compile", "save"})) << "the answer is known, but a process that runs it is not";
  EXPECT_EQ(compiledKept(), 1);
}

TEST_F(KeptCompiledNetworks, AreCompiledWhereAnythingDiffers) {
  std::ignore = run();
  std::ignore = asked();
  for (const auto& [flag, value] : {std::pair{"--compiler-option", "hands=one"}, {"--pin", "scale=f16:prefer"},
                                    {"--threads", "7"}}) {
    EXPECT_FALSE(says(run({flag, value}), "cache.compiled_loaded")) << flag;
    const Ops ops = asked();
    EXPECT_EQ(std::ranges::count(ops, "load"), 0) << flag;
    EXPECT_EQ(std::ranges::count(ops, "compile"), 1) << flag;
  }
  EXPECT_TRUE(says(run(), "cache.compiled_loaded"));
}

TEST_F(KeptCompiledNetworks, AreGivenUpWhereLoadingTakesLonger) {
  plantFault("slow load");
  std::ignore = run();
  EXPECT_EQ(asked(), (Ops{"support", "compile", "save"}));
  const Json slower = run();
  EXPECT_EQ(asked(), Ops{"load"});
  EXPECT_TRUE(says(slower, "cache.compiled_slower")) << slower["decisions"];
  const Json after = run();
  EXPECT_EQ(asked(), Ops{"compile"}) << "it is neither loaded nor saved again";
  EXPECT_FALSE(says(after, "cache.compiled_saved"));
}

TEST_F(KeptCompiledNetworks, AreCompiledAgainIfTheCompilerDoesNotLoadThem) {
  plantFault("refuses load");
  std::ignore = run();
  std::ignore = asked();
  const Json again = run();
  EXPECT_EQ(asked(), (Ops{"load", "compile"}));
  const Json said = entryOf(again["decisions"], "code", "cache.compiled_not_loaded")["arguments"];
  EXPECT_EQ(said["problem"], "Tally does not remember how it counted.") << again["decisions"];
  std::ignore = run();
  EXPECT_EQ(asked(), Ops{"compile"});
}

TEST_F(KeptCompiledNetworks, ADamagedOneIsCompiledAgain) {
  std::ignore = run();
  for (const auto& blob : std::filesystem::directory_iterator(m_folder / "cache" / "store" / "blobs")) {
    std::fstream file(blob.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(70);
    file.put('\x55');
    file.put('\x55');
  }
  std::ignore = asked();
  const Json again = run();
  EXPECT_FALSE(says(again, "cache.compiled_loaded"));
  EXPECT_TRUE(says(again, "cache.entry_damaged"));
  EXPECT_TRUE(says(run(), "cache.compiled_loaded"));
}

TEST_F(KeptCompiledNetworks, CacheOffCompilesAndReadKeepsNothing) {
  std::ignore = run({"--cache", "read"});
  EXPECT_EQ(asked(), (Ops{"support", "compile"}));
  std::ignore = run();
  std::ignore = asked();
  std::ignore = run({"--cache", "off"});
  EXPECT_EQ(asked(), (Ops{"support", "compile"}));
  EXPECT_TRUE(says(run({"--cache", "read"}), "cache.compiled_loaded"));
}

TEST_F(KeptCompiledNetworks, WhySaysWhetherOneIsKept) {
  const auto question = [&] {
    const ProcessResult why = command({"cache", "why", network(), "--compiler", "tally", "--json"});
    return Json::parse(why.out, nullptr, false)["questions"].back();
  };
  std::ignore = plan();
  EXPECT_TRUE(question()["compiled"].is_null());
  std::ignore = run();
  EXPECT_GT(question()["compiled"]["bytes"], 100) << question();
  EXPECT_TRUE(question()["given_up"].is_null());
  plantFault("slow load");
  std::ignore = run();
  std::ignore = run();
  EXPECT_EQ(question()["given_up"], "loading it took longer than compiling it");
}

/// A quick compiler needs no store.
TEST_F(KeptCompiledNetworks, QuickOnesAreNotKept) {
  plantFault("");
  std::ignore = run();
  EXPECT_EQ(compiledKept(), 0);
}

}  // namespace
}  // namespace fusescope::test
