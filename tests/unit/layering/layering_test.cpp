// The layers of ARCHITECTURE.md, checked on every #include of the sources.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/layering/source_includes.h"

namespace {

namespace fs = std::filesystem;

using Include = fusescope::test::SourceInclude;
using fusescope::test::includesBelow;

const std::vector<std::string> kCoreLayers{"base",     "cache",  "onnxlib", "ir",          "ops",         "frontends",
                                           "analysis", "passes", "target",  "calibration", "planning",    "probe",
                                           "backends", "engine", "verify",  "diff",        "interchange", "compilers",
                                           "tuning",   "layout", "session"};

const std::vector<std::string> kRoomsOfTheWindow{"theme", "jobs",    "document", "models", "widgets", "canvas",
                                                 "docks", "compare", "dialogs",  "ribbon", "window"};

/// Folders of core whose own folders have an order, from below. Files directly in such a folder are not part of it:
/// they may be the interface that is below all of them, or what chooses among them.
const std::vector<std::pair<std::string, std::vector<std::string>>> kOrderInFolders{
    {"core/frontends", {"onnx", "tensorrt", "torch"}},
    {"core/planning", {"patterns", "prices", "fusion", "directives", "types", "read_back"}},
    {"core/backends", {"reference", "native"}},
    {"core/backends/native", {"kernels", "steps", "lowering"}},
    {"core/engine", {"kernels", "program", "description", "tactics", "steps"}},
    {"core/session", {"inputs", "documents", "operations", "runs", "reports"}},
    {"core/interchange", {"recipes", "typed_network", "substitutions"}},
    {"core/compilers",
     {"own", "probed", "onnxruntime", "openvino", "torch", "tensorrt", "tensorrt_rtx", "trtexec", "torch_tensorrt"}}};

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

/// Returns the place of a folder in an order, from below; -1 if it is not in it.
int placeIn(const std::vector<std::string>& order, const std::string& folder) {
  const auto found = std::ranges::find(order, folder);
  return found == order.end() ? -1 : static_cast<int>(found - order.begin());
}

int layerOf(const std::string& folder) {
  return placeIn(kCoreLayers, folder);
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

/// Checks that the folders in `folder` are those of `order`, and that each includes only files of itself and of those
/// before it. `prefix` is how includes of these files begin. Returns the number of includes between the folders.
int checkOrder(const std::string& folder, const std::string& prefix, const std::vector<std::string>& order) {
  for (const auto& entry : fs::directory_iterator(fs::path(FUSESCOPE_SOURCE_DIR) / folder)) {
    if (!entry.is_directory()) continue;
    EXPECT_GE(placeIn(order, entry.path().filename().string()), 0)
        << entry.path() << " has no place in the order of the folders in " << folder;
  }
  int between = 0;
  for (const Include& include : includesBelow(folder)) {
    if (!include.header.starts_with(prefix)) continue;
    const int own = placeIn(order, firstFolder(include.file.lexically_relative(folder).generic_string()));
    const int used = placeIn(order, firstFolder(include.header.substr(prefix.size())));
    if (own < 0 || used < 0) continue;
    between += own != used ? 1 : 0;
    EXPECT_LE(used, own) << include.file << " includes " << include.header;
  }
  return between;
}

TEST(Layering, RoomsOfTheWindowUseOnlyTheRoomsBelowThem) {
  EXPECT_GT(checkOrder("ui", "ui/", kRoomsOfTheWindow), 300);
}

TEST(Layering, FoldersInAFolderOfCoreUseOnlyThoseBelowThem) {
  int between = 0;
  for (const auto& [folder, order] : kOrderInFolders)
    between += checkOrder(folder, folder.substr(std::string("core/").size()) + "/", order);
  EXPECT_GT(between, 30);
}

TEST(Layering, PlanningKnowsNoBackendAndLayoutKnowsNoGraph) {
  for (const Include& include : includesBelow("core/layout"))
    EXPECT_FALSE(include.header.starts_with("ir/")) << include.file << " includes " << include.header;
  for (const Include& include : includesBelow("core/planning"))
    EXPECT_FALSE(include.header.starts_with("backends/")) << include.file << " includes " << include.header;
}

/// What walks from a node of the graph to its neighbours. The last two are names by which emitters once asked who folds
/// a constant and whether a value has one reader.
const std::regex kWalk(
    R"(\.producer\b|\.consumers\b|\b(producerIf|consumerIf|onlyConsumer|onlyConsumerIf|onlyReader|readers)\()"
    R"(|\b(beforeCasts|behindCasts)\(|kernel_nodes\.h"|\b(foldedBy|isReadOnce)\()");

/// Returns the names of the files of the native backend, in `folders`, that contain the pattern.
std::set<std::string> nativeFilesWith(const std::regex& pattern, const std::vector<std::string>& folders) {
  std::set<std::string> found;
  for (const std::string& folder : folders) {
    const fs::path at = fs::path(FUSESCOPE_SOURCE_DIR) / "core/backends/native" / folder;
    for (const auto& entry : fs::recursive_directory_iterator(at)) {
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        if (std::regex_search(line, pattern)) found.insert(entry.path().filename().string());
    }
  }
  return found;
}

using Files = std::set<std::string>;

// Planning binds what nodes and values are to a kernel (planning/kernel_bindings.h). The emitters of the native backend
// read that and do not find it again.
TEST(Layering, EmittersDoNotWalkFromANodeToItsNeighbours) {
  // Where values lie, and at which types they are read, depends on who reads them.
  EXPECT_EQ(nativeFilesWith(kWalk, {""}),
            (Files{"region_facts.h", "region_facts.cpp", "region_places.cpp", "context.cpp"}));
}

TEST(Layering, EmittersDoNotKnowTheGraph) {
  // The context holds the graph and does not show it. Whether a fused node can be lowered at all, and where its values
  // are rounded, is asked before there are emitters.
  EXPECT_EQ(nativeFilesWith(std::regex(R"(\bGraph\b|\bgraph\(\)|\bm_graph\b)"), {"lowering", "steps", "kernels"}),
            (Files{"region_facts.h", "region_facts.cpp", "region_values.cpp", "lower_region.cpp", "rounding.h",
                   "rounding.cpp"}));
}

TEST(Layering, EmittersDoNotSearchTheNodesOfAFusedNode) {
  // lower_region.cpp walks over all nodes. An attention whose numbers are folded must be all that reads them, and a
  // chain of codes whose kernel is missing runs the nodes before its root in the order of the graph.
  EXPECT_EQ(
      nativeFilesWith(std::regex(R"(\bfused(\(\))?(\.|->)nodes\b|m_fused(\.|->)nodes\b)"), {"lowering"}),
      (Files{"region_facts.cpp", "rounding.cpp", "lower_region.cpp", "lower_attention.cpp", "lower_quantized.cpp"}));
}

TEST(Layering, NamesOfImplementationsAreReadInOnePlaceEach) {
  // choice.cpp reads the names that oneDNN gives, and native_tactics.cpp those that tactics store.
  const std::regex reads(R"(implementation(\(\))?( [!=]= |\.(starts_with|ends_with|find)\()|info_str\(\)\)?\.)");
  EXPECT_EQ(nativeFilesWith(reads, {""}), (Files{"choice.cpp", "native_tactics.cpp"}));
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
