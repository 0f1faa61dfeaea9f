// Small modules (modules/modules.py) that torch exports, and what it says of them itself. Skipped where
// FUSESCOPE_TORCH_PYTHON names no Python that has torch (scripts/test --torch sets it).
#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "interchange/npz.h"
#include "tests/torch/torch_fixture.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kLeastModules = 30;
/// Which torch's exporter to ONNX cannot write, and says so.
const std::vector<std::string> kNotExported{"derived_extent"};

class RealModules : public Torch {
 protected:
  static void SetUpTestSuite() {
    const char* python = std::getenv("FUSESCOPE_TORCH_PYTHON");
    if (python == nullptr) return;
    s_folder = std::make_unique<TemporaryFolder>();
    const ProcessResult exported = runProcess({python, "-B", TORCH_TESTS "/modules/export.py", s_folder->path()});
    ASSERT_EQ(exported.status, 0) << exported.err;
    std::istringstream names(exported.out);
    for (std::string name; std::getline(names, name);) s_modules.push_back(name);
  }
  static void TearDownTestSuite() {
    s_folder.reset();
    s_modules.clear();
  }
  void SetUp() override {
    if (s_folder == nullptr) GTEST_SKIP() << "no Python with torch: FUSESCOPE_TORCH_PYTHON is not set";
    ASSERT_GE(s_modules.size(), kLeastModules);
    ::setenv("FUSESCOPE_PYTHON", std::getenv("FUSESCOPE_TORCH_PYTHON"), 1);
  }
  void TearDown() override { ::unsetenv("FUSESCOPE_PYTHON"); }

  static std::string file(const std::string& module, const char* ending) { return *s_folder / (module + ending); }
  static Json toldByTorch(const std::string& module) {
    std::ifstream file(RealModules::file(module, ".json"));
    return Json::parse(file);
  }

  /// What torch gave, under the names that the network has for its outputs, which are in the program's order.
  static std::string expected(const std::string& module, const Json& outputs) {
    const auto given = readNpz(file(module, ".npz"));
    const Json torchs = toldByTorch(module)["outputs"];
    NpzArrays named;
    for (std::size_t i = 0; given.ok() && i < torchs.size() && i < outputs.size(); ++i)
      named.emplace(outputs[i], given.value().at("out:" + torchs[i].get<std::string>()));
    EXPECT_EQ(named.size(), torchs.size());
    EXPECT_TRUE(writeNpz(file(module, ".expected.npz"), named).ok());
    return file(module, ".expected.npz");
  }

  static inline std::unique_ptr<TemporaryFolder> s_folder;
  static inline std::vector<std::string> s_modules;
};

/// "f32" of "float32": torch's own names for types, as they are called here.
std::string ourType(const std::string& torchs) {
  static const std::map<std::string, std::string> kFloats{
      {"float64", "f64"}, {"float32", "f32"}, {"float16", "f16"}, {"bfloat16", "bf16"}};
  const auto found = kFloats.find(torchs);
  return found == kFloats.end() ? torchs : found->second;
}

/// An extent is a number, or its symbols with the least and the most that torch allows; null: it knows no bound.
void expectExtent(const Json& torchs, const Json& input, const Json& spec, std::size_t axis) {
  if (torchs.is_number()) {
    EXPECT_EQ(input["dims"][axis], torchs);
    return;
  }
  EXPECT_EQ(input["dims"][axis], torchs[0]);
  if (torchs[2].is_null()) return;  // what is assumed then is nobody's fact
  EXPECT_EQ(spec["min"][axis], torchs[1]);
  EXPECT_EQ(spec["max"][axis], torchs[2]);
}

TEST_F(RealModules, OpenWithTheInputsThatTorchTells) {
  std::size_t inputs = 0;
  for (const std::string& module : s_modules) {
    SCOPED_TRACE(module);
    const Json torchs = toldByTorch(module)["inputs"], ours = json({"inspect", file(module, ".pt2")});
    ASSERT_EQ(ours["inputs"].size(), torchs.size());
    for (std::size_t i = 0; i < torchs.size(); ++i) {
      const Json &input = ours["inputs"][i], &told = torchs[i];
      EXPECT_EQ(input["name"], told["name"]);
      EXPECT_EQ(input["type"], ourType(told["type"]));
      ASSERT_EQ(input["dims"].size(), told["dims"].size());
      for (std::size_t axis = 0; axis < told["dims"].size(); ++axis)
        expectExtent(told["dims"][axis], input, ours["input_specs"][i], axis);
      ++inputs;
    }
  }
  fmt::print("{} modules, {} inputs\n", s_modules.size(), inputs);
}

/// As networks that torch makes of them, on the inputs that they were exported with.
TEST_F(RealModules, GiveWhatTorchGives) {
  ::setenv("FUSESCOPE_CACHE", (*s_folder / "cache").c_str(), 1);
  std::int64_t nodes = 0, tied = 0;
  std::size_t ran = 0;
  std::vector<std::string> refused;
  for (const std::string& module : s_modules) {
    SCOPED_TRACE(module);
    const std::string program = file(module, ".pt2");
    const ProcessResult imported = fusescopeCommand({"import", program, "--json"});
    if (has(imported.err, "cannot export the program to ONNX")) {  // in torch's own words
      refused.push_back(module);
      continue;
    }
    ASSERT_EQ(imported.status, 0) << imported.err;
    const Json made = Json::parse(imported.out);
    nodes += made["node_count"].get<std::int64_t>();
    tied += made["tied"].get<std::int64_t>();
    const ProcessResult run = fusescopeCommand({"run", program, "--expect", expected(module, made["outputs"])});
    EXPECT_EQ(run.status, 0) << run.out << run.err;
    ran += run.status == 0;
  }
  EXPECT_EQ(refused, kNotExported);
  EXPECT_GE(tied * 100, nodes * 90) << "of " << nodes;
  fmt::print("{} of {} modules give what torch gives, {} it does not export; {} of {} nodes are tied\n", ran,
             s_modules.size(), refused.size(), tied, nodes);
}

}  // namespace
}  // namespace fusescope::test
