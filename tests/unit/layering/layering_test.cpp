// The layers of ARCHITECTURE.md, checked on every #include of the sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kCoreLayers{"base",     "onnxlib", "ir",          "ops",      "frontends",   "analysis",
                                           "passes",   "target",  "calibration", "planning", "cache",       "probe",
                                           "backends", "engine",  "verify",      "diff",     "interchange", "compilers",
                                           "tuning",   "layout",  "session"};

/// Third-party headers that only one folder may include: a pattern and the folder.
const std::vector<std::pair<std::regex, std::string>> kSealed{
    {std::regex("^(onnx/|google/protobuf/)"), "core/onnxlib"},
    {std::regex("^(dnnl|oneapi/dnnl)"), "core/backends/native"},
    {std::regex("^(graphviz/|cgraph\\.h|gvc\\.h)"), "core/layout/graphviz"},
    {std::regex("^sqlite3\\.h"), "core/cache"},
    {std::regex("^hiredis/"), "core/cache"},
    {std::regex("^openssl/"), "core/cache"},
    {std::regex("^zip\\.h"), "core/base"},
    {std::regex("^re2/"), "core/base"},
};

struct Include {
  fs::path file;  ///< relative to the source root
  std::string header;
};

std::vector<Include> includesBelow(const std::string& folder) {
  const fs::path root = FUSESCOPE_SOURCE_DIR;
  const std::regex directive("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
  std::vector<Include> includes;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".cpp" && extension != ".h") continue;
    std::ifstream file(entry.path());
    std::smatch match;
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, match, directive)) includes.push_back({fs::relative(entry.path(), root), match[1]});
  }
  return includes;
}

int layerOf(const std::string& folder) {
  for (std::size_t i = 0; i < kCoreLayers.size(); ++i)
    if (kCoreLayers[i] == folder) return static_cast<int>(i);
  return -1;
}

std::string firstFolder(const std::string& path) {
  return path.substr(0, path.find('/'));
}

TEST(Layering, CoreFoldersUseOnlyTheFoldersAboveThem) {
  std::size_t checked = 0;
  for (const Include& include : includesBelow("core")) {
    const std::string own = std::next(include.file.begin())->string();
    const int used = layerOf(firstFolder(include.header));
    if (used < 0 || include.header.find('/') == std::string::npos) continue;
    ++checked;
    EXPECT_LE(used, layerOf(own)) << include.file << " includes " << include.header;
  }
  EXPECT_GT(checked, 100U);
}

TEST(Layering, PlanningKnowsNoBackendAndLayoutKnowsNoGraph) {
  for (const Include& include : includesBelow("core/layout"))
    EXPECT_FALSE(include.header.starts_with("ir/")) << include.file << " includes " << include.header;
  for (const Include& include : includesBelow("core/planning"))
    EXPECT_FALSE(include.header.starts_with("backends/")) << include.file << " includes " << include.header;
}

/// What walks from a node of the graph to its neighbours.
const std::regex kWalk(
    R"(\.producer\b|\.consumers\b|\b(producerIf|consumerIf|onlyConsumer|onlyConsumerIf|onlyReader|readers)\()"
    R"(|\b(beforeCasts|behindCasts)\(|kernel_nodes\.h")");

// Planning binds what nodes and values are to a kernel (planning/kernel_bindings.h). The emitters of the native backend
// read that and do not find it again.
TEST(Layering, EmittersDoNotWalkFromANodeToItsNeighbours) {
  // Where values lie, and at which types they are read, depends on who reads them.
  const std::set<std::string> context{"region_facts.h", "region_facts.cpp", "region_places.cpp", "context.cpp"};
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / "core/backends/native")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (std::regex_search(line, kWalk)) found.insert(entry.path().filename().string());
  }
  for (const std::string& file : found) EXPECT_TRUE(context.contains(file)) << file << " walks to neighbours of a node";
  EXPECT_EQ(found.size(), context.size());
}

TEST(Layering, CoreKnowsNoQt) {
  const std::regex qt("^(Q[A-Z]|Qt)");
  for (const Include& include : includesBelow("core"))
    EXPECT_FALSE(std::regex_search(include.header, qt)) << include.file << " includes " << include.header;
}

TEST(Layering, ThirdPartiesStayBehindTheirDoors) {
  for (const char* tree : {"core", "app", "ui"})
    for (const Include& include : includesBelow(tree))
      for (const auto& [pattern, folder] : kSealed)
        EXPECT_TRUE(!std::regex_search(include.header, pattern) || include.file.string().starts_with(folder))
            << include.file << " includes " << include.header;
}

TEST(Layering, TheCommandLineDoesNotUseTheWindow) {
  for (const char* tree : {"app/cli", "app/worker", "app/layoutd", "core"})
    for (const Include& include : includesBelow(tree))
      EXPECT_FALSE(include.header.starts_with("ui/")) << include.file << " includes " << include.header;
}

}  // namespace
