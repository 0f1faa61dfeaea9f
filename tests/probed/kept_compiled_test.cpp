// What tally compiled is loaded by the next process that runs it, unless loading takes longer or fails.
#include <algorithm>

#include "base/files.h"
#include "tests/probed/kept_answers_fixture.h"
#include "tests/probed/real_compilers_fixture.h"
#include "tests/support/command_json.h"

namespace fusescope::test {
namespace {

/// Products of constants, which compilers calculate ahead: compiling takes much longer than the few weights let expect.
constexpr const char* kFolded = R"(<ir_version: 8, opset_import: ["" : 18]>
net (float[1, 1024] x) => (float[1, 1024] y) <int64[2] shape = {1024, 1024}> {
  [filled] c = ConstantOfShape <value = float[1] {0.001}> (shape)
  [one] a1 = MatMul (c, c)
  [two] a2 = MatMul (a1, c)
  [three] a3 = MatMul (a2, c)
  [four] a4 = MatMul (a3, c)
  [five] a5 = MatMul (a4, c)
  [six] a6 = MatMul (a5, c)
  [seven] a7 = MatMul (a6, c)
  [eight] a8 = MatMul (a7, c)
  [last] y = MatMul (x, a8)
})";

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
  for (const auto& [flag, value] :
       {std::pair{"--compiler-option", "hands=one"}, {"--pin", "scale=f16:prefer"}, {"--threads", "7"}}) {
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

/// A quick compiler needs no store. On a busy machine it may be slow now and then.
TEST_F(KeptCompiledNetworks, QuickOnesAreNotKept) {
  plantFault("");
  for (int i = 0; i < 20; ++i) {
    std::ignore = json({"cache", "clear"});
    std::ignore = run();
    if (compiledKept() == 0) return;
  }
  FAIL() << "each of twenty was kept";
}

using KeptCompiledOfReal = RealCompilersFixture;

/// With the same bits in the outputs, because the same kernels run.
TEST_P(KeptCompiledOfReal, AreLoadedByTheNextRun) {
  const char* const before = std::getenv("FUSESCOPE_CACHE");
  const std::string cache = before == nullptr ? "" : before;
  ::setenv("FUSESCOPE_CACHE", (m_folder / "cache").c_str(), 1);
  const std::string model = m_folder.write("folded.onnx", onnxlib::onnxTextToBytes(kFolded).value());
  const auto run = [&](const char* outputs) {
    return commandJson({"run", model, "--compiler", GetParam(), "--outputs", m_folder / outputs});
  };
  const auto says = [](const Json& json, std::string_view code) {
    return std::ranges::any_of(json["decisions"], [&](const Json& decision) { return decision["code"] == code; });
  };
  const Json first = run("first.npz"), second = run("second.npz");
  EXPECT_TRUE(says(first, "cache.compiled_saved")) << first["decisions"];
  EXPECT_TRUE(says(second, "cache.compiled_loaded") || says(second, "cache.compiled_slower")) << second["decisions"];
  const auto a = readTextFile(m_folder / "first.npz"), b = readTextFile(m_folder / "second.npz");
  EXPECT_TRUE(a.ok() && b.ok() && a.value() == b.value());
  const Json times =
      commandJson({"time", model, "--compiler", GetParam(), "--per-layer", "--seconds", "0.1", "--warmup", "0"});
  EXPECT_TRUE(std::ranges::any_of(times["layers"], [](const Json& layer) { return layer["median_ms"].is_number(); }))
      << "kernels of the loaded network are timed by a second session";
  ::setenv("FUSESCOPE_CACHE", cache.c_str(), 1);
}

INSTANTIATE_TEST_SUITE_P(Compilers, KeptCompiledOfReal, ::testing::Values("onnxruntime", "openvino"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace fusescope::test
