// Networks as other compilers are handed them: numbers for names, and the same numbers at the outputs.
#include "compilers/probed/compiler_input.h"
#include "compilers/probed/handed_values.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "engine/kernels/kernel_requests.h"
#include "onnxlib/edited_network.h"
#include "passes/pipelines.h"
#include "session/artifact.h"
#include "session/inputs/random_inputs.h"
#include "tests/unit/compilers/handed_network.h"
#include "tests/unit/frontends/onnx_files.h"
#include "verify/part_model.h"

namespace fusescope::test {
namespace {

using onnxlib::FileGraph;
using onnxlib::FileModel;
using onnxlib::FileNode;

/// What the reference gives for the inputs, in the order of the outputs; inputs by their order, too.
std::vector<Tensor> outputsOf(const std::shared_ptr<const Plan>& plan, const std::vector<Tensor>& inputs) {
  const auto engine = buildEngine(plan, {.backend = "reference", .measureTactics = false});
  EXPECT_TRUE(engine.ok()) << (engine.ok() ? "" : engine.error().text());
  if (!engine.ok()) return {};
  std::map<std::string, Tensor> named;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    named.emplace(plan->graph().value(plan->graph().inputs().at(i)).name, inputs[i]);
  const auto result = engine.value()->run(named);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text());
  std::vector<Tensor> outputs;
  if (result.ok())
    for (const ValueId output : plan->graph().outputs())
      outputs.push_back(result.value().outputs.at(plan->graph().value(output).name));
  return outputs;
}

/// Both give the same bytes.
void expectSameNumbers(const std::shared_ptr<const Plan>& plan, const CompilerInput& network) {
  const auto again = plannedFile(network.path, testing::cpuOptions());
  ASSERT_NE(again, nullptr);
  ASSERT_EQ(again->graph().inputs().size(), plan->graph().inputs().size());
  const auto random = randomInputs(*plan);
  std::vector<Tensor> inputs;
  for (const ValueId input : plan->graph().inputs()) inputs.push_back(random.at(plan->graph().value(input).name));
  const auto expected = outputsOf(plan, inputs), actual = outputsOf(again, inputs);
  ASSERT_EQ(expected.size(), actual.size());
  ASSERT_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(expected[i].identical(actual[i])) << i;
}

struct GivenNames {
  std::vector<std::string> nodes;
  std::set<std::string> values;  ///< inputs, initializers and results

  void add(const FileGraph& graph) {
    for (const auto& input : graph.inputs) values.insert(input.name);
    for (const auto& tensor : graph.initializers) values.insert(tensor.name);
    for (const FileNode& node : graph.nodes) {
      nodes.push_back(node.name);
      for (const std::string& output : node.outputs) EXPECT_TRUE(output.empty() || values.insert(output).second);
      for (const auto& attribute : node.attributes)
        if (const auto* body = std::get_if<std::shared_ptr<const FileGraph>>(&attribute.value)) add(**body);
    }
  }
};

/// Every node and value of the file, bodies too, has a number of its own.
void expectNumbers(const CompilerInput& network) {
  GivenNames names;
  names.add(network.file.graph);
  const auto isNumber = [](const std::string& name, char kind) {
    return name.size() > 1 && name.front() == kind &&
           std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  for (const std::string& name : names.nodes) EXPECT_TRUE(isNumber(name, 'n')) << name;
  for (const std::string& name : names.values) EXPECT_TRUE(isNumber(name, 'v')) << name;
  std::ranges::sort(names.nodes);
  EXPECT_EQ(std::ranges::adjacent_find(names.nodes), names.nodes.end());
  for (const FileNode& node : network.file.graph.nodes) EXPECT_TRUE(network.nodes.contains(node.name)) << node.name;
  EXPECT_EQ(network.nodes.size(), network.file.graph.nodes.size());
}

std::vector<std::string> planNodes(const CompilerInput& network, const std::string& name) {
  std::vector<std::string> nodes;
  const auto found = network.nodes.find(name);
  if (found == network.nodes.end()) return {"no such node"};
  for (const NodeId id : found->second) nodes.push_back(network.plan->graph().node(id).name);
  return nodes;
}

std::string planValue(const CompilerInput& network, const std::string& name) {
  const auto found = network.values.find(name);
  return found == network.values.end() ? "" : network.plan->graph().value(found->second).name;
}

const std::vector<std::string>& hardNames() {
  static const std::vector<std::string> names = {
      "a,b", "a[0]", "a\nb", " ",      "",       "(a) (b)",   "n3",  "v7",  "n0",  "{\"a\":1}",
      "a b", "ä",    "%s",   "a\tb",   "'",      "\"",        "\\",  "a#2", "a:0", "x=1",
      "<a>", "a;b",  "/a/b", "a\r\nb", "--help", "node_of_y", "a+b", "…",   "a,b"};
  return names;
}

/// A chain of Adds whose nodes and values have names that are hard to tell apart or to print.
std::string chainOfHardNames(std::size_t length) {
  FileModel file{.irVersion = 8, .producer = "test", .opsets = {{"", 18}}};
  const onnxlib::FileType type{.dtype = DataType::F32, .ranked = true, .dims = {{.size = 4}}};
  std::string last = "in,put [0]";
  file.graph.name = "g";
  file.graph.inputs.push_back({last, type});
  for (std::size_t i = 0; i < length; ++i) {
    const std::string& hard = hardNames()[i % hardNames().size()];
    const std::string made = hard + "|" + std::to_string(i) + hard;
    file.graph.nodes.push_back({.name = hard, .op = i % 3 == 0 ? "Neg" : "Add", .inputs = {last}, .outputs = {made}});
    if (i % 3 != 0) file.graph.nodes.back().inputs.push_back("in,put [0]");
    last = made;
  }
  file.graph.outputs.push_back({last, type});
  const auto bytes = onnxlib::modelBytes(file);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().text());
  return bytes.ok() ? bytes.value() : std::string();
}

TEST(CompilerInput, EveryNodeAndValueHasANumberOfItsOwn) {
  const TemporaryFolder folder;
  const auto plan = plannedFile(folder.write("chain.onnx", chainOfHardNames(520)), testing::cpuOptions());
  ASSERT_NE(plan, nullptr);
  const CompilerInput network = handed(plan, CompilerInputTypes::AsInFile);
  expectNumbers(network);
  ASSERT_EQ(network.file.graph.nodes.size(), 520U);
  for (std::size_t i = 0; i < 520; ++i) {
    const FileNode& node = network.file.graph.nodes[i];
    EXPECT_EQ(node.name, "n" + std::to_string(i));
    EXPECT_EQ(planNodes(network, node.name), std::vector{plan->model->origins[i].name}) << i;
    const NodeId held = network.nodes.find(node.name)->second.at(0);
    EXPECT_EQ(network.values.at(node.outputs[0]), plan->graph().node(held).outputs[0]) << i;
  }
  EXPECT_EQ(planValue(network, network.file.graph.inputs[0].name), "in,put [0]");
  expectSameNumbers(plan, network);
}

TEST(CompilerInput, IsTheSameEachTime) {
  const TemporaryFolder folder;
  const auto plan = plannedFile(folder.write("chain.onnx", chainOfHardNames(40)), testing::cpuOptions());
  const CompilerInput a = handed(plan, CompilerInputTypes::AsPlanned), b = handed(plan, CompilerInputTypes::AsPlanned);
  EXPECT_NE(a.path, b.path);
  EXPECT_EQ(fileBytes(a.path), fileBytes(b.path));
  EXPECT_EQ(a.values, b.values);
}

constexpr const char* kBodies = R"(
net (float[4] x, bool c) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
  [same] h = Mul (x, w)
  [choice] y = If (c) <
    then_branch = t () => (float[4] out) { [same] inner = Add (h, w) [last] out = Relu (inner) },
    else_branch = e () => (float[4] out) { [same] inner = Sub (h, x) [last] out = Neg (inner) }>
})";

TEST(CompilerInput, BodiesHaveNamesOfTheirOwnAndReadWhatIsAround) {
  const TemporaryFolder folder;
  const auto plan = plannedFile(folder.write("bodies.onnx", onnxBytes(kBodies)), testing::cpuOptions());
  ASSERT_NE(plan, nullptr);
  const CompilerInput network = handed(plan, CompilerInputTypes::AsPlanned);
  expectNumbers(network);
  EXPECT_EQ(planNodes(network, "n0"), std::vector<std::string>{"same"});
  EXPECT_EQ(planNodes(network, "n1"), std::vector<std::string>{"choice"});
  expectSameNumbers(plan, network);
}

constexpr const char* kFunction = R"(<ir_version: 8, opset_import: ["" : 18, "local" : 1]>
net (float[4] x) => (float[4] y) {
  [first] a = local.twice (x)
  [second] b = local.twice (a)
  [last] y = Relu (b)
}
<opset_import: ["" : 18], domain: "local">
twice (a) => (b) { [node] c = Add (a, a) [node2] b = Identity (c) })";

TEST(CompilerInput, FunctionsStayAndTheirCallsAreTheNodesThatTheyBecame) {
  const TemporaryFolder folder;
  const auto bytes = onnxlib::onnxTextToBytes(kFunction);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  const auto plan = plannedFile(folder.write("function.onnx", bytes.value()), testing::cpuOptions());
  ASSERT_NE(plan, nullptr);
  const CompilerInput network = handed(plan, CompilerInputTypes::AsInFile);
  expectNumbers(network);
  ASSERT_EQ(network.file.functions.size(), 1U);
  EXPECT_EQ(network.file.functions[0].nodes.at(0).name, "n3");
  EXPECT_EQ(network.file.functions[0].inputs.at(0).front(), 'v');
  EXPECT_EQ(planNodes(network, "n1").size(), 1U);
  EXPECT_EQ(network.plan->graph().node(network.nodes.at("n1").at(0)).op, "Add");
  EXPECT_EQ(planNodes(network, "n2"), std::vector<std::string>{"last"});
  expectSameNumbers(plan, network);
}

TEST(CompilerInput, WeightsBesideTheFileGoAlong) {
  const TemporaryFolder folder;
  const auto inside = folder.write("inside.onnx", product());
  const auto beside = folder / "beside.onnx";
  const auto bytes = onnxlib::editNetwork(inside, {}, onnxlib::weightsNameOf(beside), 0);
  ASSERT_TRUE(bytes.ok()) << bytes.error().text();
  ASSERT_TRUE(onnxlib::writeNetwork(beside, bytes.value()).ok());
  ASSERT_LT(std::filesystem::file_size(beside), 4096U);
  const auto plan = plannedFile(beside, testing::cpuOptions());
  ASSERT_NE(plan, nullptr);
  const CompilerInput network = handed(plan, CompilerInputTypes::AsPlanned);
  expectNumbers(network);
  expectSameNumbers(plan, network);
}

TEST(CompilerInput, TypesOfThePlanAreWrittenWhereTheyAreWanted) {
  const TemporaryFolder folder;
  const auto path = folder.write("product.onnx", product());
  const auto plan = plannedFile(path, testing::cpuOptions({parsePin("product=f16").value()}));
  ASSERT_NE(plan, nullptr);
  const CompilerInput typed = handed(plan, CompilerInputTypes::AsPlanned);
  expectNumbers(typed);
  std::size_t casts = 0;
  for (const FileNode& node : typed.file.graph.nodes) {
    const bool isAdded = node.op == "Cast";
    casts += isAdded;
    EXPECT_EQ(planNodes(typed, node.name).size(), isAdded ? 0U : 1U) << node.name;
    for (const std::string& input : node.inputs) EXPECT_NE(planValue(typed, input), "") << node.name << " " << input;
    EXPECT_NE(planValue(typed, node.outputs.at(0)), "") << node.name;
    if (!isAdded) continue;
    EXPECT_EQ(planValue(typed, node.inputs[0]), planValue(typed, node.outputs[0]));
  }
  EXPECT_GE(casts, 2U);
  EXPECT_EQ(planNodes(typed, "n0"), std::vector<std::string>{"product"});
  const CompilerInput bare = handed(plan, CompilerInputTypes::AsInFile);
  EXPECT_EQ(bare.file.graph.nodes.size(), 2U);
  EXPECT_EQ(planValue(bare, bare.file.graph.nodes[0].inputs.at(1)), "weight");
}

TEST(CompilerInput, CodesOfAPlanAreNodesOfIt) {
  const TemporaryFolder folder;
  PlanOptions options = testing::cpuOptions();
  options.weightOnly = {.type = DataType::I8};
  const auto plan = plannedFile(folder.write("product.onnx", product()), options);
  ASSERT_NE(plan, nullptr);
  ASSERT_NE(plan->model->unquantized, nullptr);
  const CompilerInput network = handed(plan, CompilerInputTypes::AsInFile);
  expectNumbers(network);
  std::set<std::string> operators;
  for (const FileNode& node : network.file.graph.nodes) {
    operators.insert(node.op);
    ASSERT_EQ(planNodes(network, node.name).size(), 1U) << node.name << " " << node.op;
    EXPECT_EQ(network.plan->graph().node(network.nodes.at(node.name)[0]).op, node.op);
  }
  EXPECT_TRUE(operators.contains("DequantizeLinear"));
}

TEST(CompilerInput, APartIsWrittenFromItsGraph) {
  const TemporaryFolder folder;
  const auto whole = plannedFile(folder.write("chain.onnx", chainOfHardNames(30)), testing::cpuOptions());
  ASSERT_NE(whole, nullptr);
  const auto requests = KernelRequests::create(*whole, {{"in,put [0]", {4}}}, 1);
  ASSERT_TRUE(requests.ok()) << requests.error().text();
  const auto& order = whole->graph().order();
  const auto part = partOf(*whole, requests.value(), {order.begin() + 5, order.begin() + 20}, false, {});
  ASSERT_TRUE(part.ok()) << part.error().text();
  const CompilerInput network = handed(part.value().plan, CompilerInputTypes::AsPlanned);
  expectNumbers(network);
  ASSERT_EQ(network.file.graph.nodes.size(), 15U);
  EXPECT_LE(network.file.opsets.at(""), 18);
  for (std::size_t i = 0; i < 15; ++i)
    EXPECT_EQ(planNodes(network, "n" + std::to_string(i)), std::vector{whole->graph().node(order[5 + i]).name});
  expectSameNumbers(part.value().plan, network);
}

constexpr const char* kBodiesInTheMiddle = R"(
net (float[2, 4] x, int64 trips) => (float[2, 4] y) <float[4, 4] w = {1,2,0,0, 0,1,2,0, 0,0,1,2, 2,0,0,1}, bool on = {1}> {
  [before] h = MatMul (x, w)
  [scale] s = Softmax (h)
  [loop] l = Loop (trips, on, s) <body = b (int64 i, bool go, float[2, 4] state) => (bool more, float[2, 4] next) {
    more = Identity (go)
    sum = ReduceSum <keepdims = 0> (state)
    half = Constant <value = float {0.5}> ()
    up = Greater (sum, half)
    [choice] next = If (up) <
      then_branch = t () => (float[2, 4] a) { [deep] less = MatMul (state, w) [tanh] a = Tanh (less) },
      else_branch = e () => (float[2, 4] a2) { [add] more2 = Add (state, h) [tanh] a2 = Tanh (more2) }>
  }>
  [last] y = Relu (l)
})";

TEST(CompilerInput, APartTakesItsBodiesAlong) {
  const TemporaryFolder folder;
  const auto path = folder.write("bodies.onnx", onnxBytes(kBodiesInTheMiddle));
  const auto whole = plannedFile(path, testing::cpuOptions({parsePin("loop/choice/deep=f16").value()}));
  ASSERT_NE(whole, nullptr);
  const auto requests = KernelRequests::create(*whole, {{"x", {2, 4}}, {"trips", {}}}, 1);
  ASSERT_TRUE(requests.ok()) << requests.error().text();
  const auto& order = whole->graph().order();
  const auto part = partOf(*whole, requests.value(), {order.begin() + 1, order.end()}, false, {});
  ASSERT_TRUE(part.ok()) << part.error().text();
  EXPECT_EQ(part.value().inputs, (std::vector<std::string>{"h", "trips"}));
  const CompilerInput network = handed(part.value().plan, CompilerInputTypes::AsInFile);
  expectNumbers(network);
  EXPECT_EQ(network.file.opsets.at(""), 18);  // not raised for the sake of anything in there
  EXPECT_EQ(planNodes(network, "n1"), std::vector<std::string>{"loop"});
  EXPECT_EQ(onnxlib::checkerComplaint(network.path).value_or(""), "");

  // The pin inside went along.
  const Plan& body = plannedBody(part.value().plan->bodies.at(0));
  const Plan& branch = plannedBody(body.bodies.at(1));
  const auto deep = branch.graph().findNode("deep");
  ASSERT_TRUE(deep);
  EXPECT_EQ(branch.calculates[deep->index], DataType::F16);
  const auto plain = plannedFile(path, testing::cpuOptions());
  const auto of = partOf(*plain, KernelRequests::create(*plain, {{"x", {2, 4}}, {"trips", {}}}, 1).value(),
                         {order.begin() + 1, order.end()}, false, {});
  ASSERT_TRUE(of.ok());
  expectSameNumbers(of.value().plan, handed(of.value().plan, CompilerInputTypes::AsInFile));
}

TEST(CompilerInput, RealNetworksKeepTheirNumbers) {
  for (const char* name : {"bert_tiny", "tiny_resnet_dynbatch", "moe_dense", "long_double"}) {
    SCOPED_TRACE(name);
    const auto plan = plannedFile(sampleFolder(name) / "model.onnx", testing::cpuOptions());
    ASSERT_NE(plan, nullptr);
    const CompilerInput network = handed(plan, CompilerInputTypes::AsInFile);
    expectNumbers(network);
    expectSameNumbers(plan, network);
    std::set<NodeId> held;
    for (const auto& [file, nodes] : network.nodes) held.insert(nodes.begin(), nodes.end());
    EXPECT_EQ(held.size(), plan->graph().nodeCount());
  }
}

TEST(CompilerInput, AFileAsItIsIsKnownByItsNames) {
  const TemporaryFolder folder;
  const auto path = folder.write("product.onnx", product());
  const auto plan = plannedFile(path, testing::cpuOptions());
  const auto network = networkAsNamed(plan, path);
  ASSERT_TRUE(network.ok()) << network.error().text();
  EXPECT_EQ(network.value().folder, nullptr);
  EXPECT_EQ(planNodes(network.value(), "product"), std::vector<std::string>{"product"});
  EXPECT_EQ(planValue(network.value(), "h"), "h");
  EXPECT_EQ(planValue(network.value(), "weight"), "weight");
  const auto other = folder.write("other.onnx", chainOfHardNames(7));
  EXPECT_FALSE(networkAsNamed(plan, other).ok());
}

/// TensorRT's parser refuses a whole network because of an input of 16-bit integers, whether anything reads it or not.
TEST(CompilerInput, AnInputThatNothingReadsIsLeftOutIfTheTargetLacksItsType) {
  const char* text = R"(
net (uint16[4] unread, float[4] x, float[2] spare, uint16[4] read) => (float[4] y, uint16[4] z) {
  y = Relu (x)
  z = Identity (read)
})";
  const TemporaryFolder folder;
  const std::string path = folder.write("network.onnx", onnxBytes(text));
  const auto namesOf = [](const CompilerInput& network) {
    std::vector<std::string> names;
    for (const auto& [plan, file] : handedInputs(network)) names.push_back(plan);
    return names;
  };
  PlanOptions options = testing::cpuOptions();
  const CompilerInput whole = handed(plannedFile(path, options), CompilerInputTypes::AsInFile);
  EXPECT_TRUE(whole.leftOut.empty());
  EXPECT_EQ(namesOf(whole), (std::vector<std::string>{"unread", "x", "spare", "read"}));
  options.target = "tensorrt-rtx";
  const auto plan = plannedFile(path, options);
  for (const CompilerInputTypes types : {CompilerInputTypes::AsInFile, CompilerInputTypes::AsPlanned}) {
    const CompilerInput network = handed(plan, types);
    ASSERT_EQ(network.leftOut.size(), 1U);
    EXPECT_EQ(plan->graph().value(network.leftOut[0]).name, "unread");
    EXPECT_EQ(network.file.graph.inputs.size(), 3U);
    EXPECT_EQ(network.file.graph.outputs.size(), 2U);
    EXPECT_EQ(namesOf(network), (std::vector<std::string>{"x", "spare", "read"}));
    EXPECT_EQ(network.values.at(network.file.graph.inputs[0].name), *plan->graph().findValue("x"));
  }
}

}  // namespace
}  // namespace fusescope::test
