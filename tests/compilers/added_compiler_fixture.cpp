#include "tests/compilers/added_compiler_fixture.h"

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "onnxlib/onnx_text.h"
#include "session/open_artifact.h"

namespace fusescope::test {
namespace {

constexpr const char* kFault = "FUSESCOPE_TEST_ABACUS";
constexpr const char* kTemporary = "TMPDIR";

}  // namespace

PlantedFault::PlantedFault(const std::string& fault) {
  ::setenv(kFault, fault.c_str(), 1);
}

PlantedFault::~PlantedFault() {
  ::unsetenv(kFault);
}

AddedCompiler::AddedCompiler() {
  ::unsetenv(kFault);
  ::setenv(kTemporary, temporaryFolder().c_str(), 1);
}

AddedCompiler::~AddedCompiler() {
  EXPECT_TRUE(comes([&] { return processes().empty(); })) << ::testing::PrintToString(processes());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(m_temporary.path()))
    left.push_back(entry.path().string());
  EXPECT_TRUE(left.empty()) << ::testing::PrintToString(left);
  ::unsetenv(kTemporary);
}

std::string AddedCompiler::everyFate() const {
  const auto bytes = onnxlib::onnxTextToBytes(kEveryFate);
  if (!bytes.ok()) throw std::runtime_error(bytes.error().text());
  return m_folder.write("every_fate.onnx", bytes.value()).string();
}

ProcessResult AddedCompiler::command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), ABACUS_FOLDER "/fusescope");
  return runProcess(arguments);
}

Json AddedCompiler::json(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const ProcessResult result = command(arguments);
  EXPECT_EQ(result.status, 0) << ::testing::PrintToString(arguments) << "\n" << result.err;
  Json json = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out << result.err;
  return json;
}

std::string AddedCompiler::sample(std::string_view network) {
  return (sampleFolder(network) / "model.onnx").string();
}

std::string AddedCompiler::arrays(std::string_view network) {
  return sampleInputs(network);
}

Artifact AddedCompiler::opened(const std::string& path, PlanOptions options) {
  options.compiler = "abacus";
  auto artifact = openArtifact(path, {}, options);
  if (!artifact.ok()) throw std::runtime_error(artifact.error().text());
  return std::move(artifact).value();
}

bool AddedCompiler::comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 2000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Json entryOf(const Json& list, const char* key, const Json& value) {
  for (const Json& entry : list)
    if (entry.at(key) == value) return entry;
  return nullptr;
}

std::vector<Json> kernelsOf(const Json& plan, const std::string& node) {
  std::vector<Json> kernels;
  const Json entry = entryOf(plan["nodes"], "node", node);
  for (const Json& id : entry.at("kernels")) kernels.push_back(plan["kernels"][id.get<std::size_t>()]);
  return kernels;
}

}  // namespace fusescope::test
