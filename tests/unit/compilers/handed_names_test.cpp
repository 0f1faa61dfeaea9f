// What a compiler says in the names of the network that it received is repeated in the names of the plan.
#include "compilers/probed/handed_names.h"

#include <set>

#include "tests/unit/compilers/handed_network.h"

namespace fusescope::test {
namespace {

TEST(HandedNames, AreReplacedByThoseOfThePlan) {
  const TemporaryFolder folder;
  const CompilerInput network =
      handed(plannedFile(folder.write("product.onnx", product()), testing::cpuOptions()), CompilerInputTypes::AsInFile);
  const std::string input = network.file.graph.inputs.at(0).name;
  EXPECT_EQ(inNamesOfNetwork(network, "node 'n1' reads n0, not n11 or n1_2: " + input + "."),
            "node 'relu' reads product, not n11 or relu_2: x.");
  EXPECT_EQ(inNamesOfNetwork(network, ""), "");
  EXPECT_EQ(inNamesOfNetwork(network, "n0"), "product");
}

TEST(HandedNames, CastsThatWereAddedAreCalledAfterWhatTheyRead) {
  const TemporaryFolder folder;
  PlanOptions options = testing::cpuOptions();
  options.precisions = {DataType::F16};
  const CompilerInput network =
      handed(plannedFile(folder.write("product.onnx", product()), options), CompilerInputTypes::AsPlanned);
  int added = 0;
  std::set<std::string> names;
  for (const onnxlib::FileNode& node : network.file.graph.nodes) {
    const std::string name = inNamesOfNetwork(network, node.name);
    EXPECT_NE(name, node.name) << "a number says nothing to people";
    EXPECT_TRUE(names.insert(name).second) << name;
    added += name.starts_with("Cast of ") ? 1 : 0;
  }
  EXPECT_TRUE(names.contains("Cast of x"));
  EXPECT_GE(added, 2) << "in front of the product, and behind it";
}

// A compiler may make a kernel of a node that normalisation takes out: it is called as in the file.
TEST(HandedNames, NodesThatThePlanDoesNotHaveAreCalledAsInTheFile) {
  const TemporaryFolder folder;
  onnxlib::FileModel file{.irVersion = 8, .producer = "test", .opsets = {{"", 18}}};
  const onnxlib::FileType type{.dtype = DataType::F32, .ranked = true, .dims = {{.size = 2}, {.size = 3}}};
  file.graph = {.name = "g",
                .nodes = {{.name = "passes on", .op = "Identity", .inputs = {"x"}, .outputs = {"h"}},
                          {.name = "relu", .op = "Relu", .inputs = {"h"}, .outputs = {"y"}}},
                .inputs = {{"x", type}},
                .outputs = {{"y", type}}};
  const CompilerInput network =
      handed(plannedFile(folder.write("identity.onnx", onnxlib::modelBytes(file).value()), testing::cpuOptions()),
             CompilerInputTypes::AsInFile);
  EXPECT_TRUE(network.nodes.at("n0").empty());
  EXPECT_EQ(inNamesOfNetwork(network, "n0 and n1"), "passes on and relu");
}

}  // namespace
}  // namespace fusescope::test
