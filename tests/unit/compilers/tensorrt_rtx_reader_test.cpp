// What TensorRT for RTX 1.7.1 said of small networks of ours (tests/unit/compilers/tensorrt_rtx/NETWORK.jsonl: its own
// words about them), read back. Where the package may be used, FUSESCOPE_RECORD=1 writes these files anew.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "base/text.h"
#include "compilers/probed/handed_names.h"
#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "tests/unit/compilers/tensorrt_rtx_testing.h"

namespace fusescope::test {
namespace {

struct Recorded {
  std::string name;
  std::string graph;  ///< "= #64" stands for 64 elements
  std::vector<DataType> precisions{};
};

const Recorded kMlp{"mlp", R"(
net (float[4,8] x) => (float[8,4] y) <float[8,8] w = #64, float[8,8] w2 = #64, int64[2] s = {8, 4}> {
  [first] a = MatMul (x, w)
  [relu] b = Relu (a)
  [second] c = MatMul (b, w2)
  [turned] y = Reshape (c, s)
})"};
const Recorded kConvolutions{"convolutions", R"(
net (float[1,3,16,16] x) => (float[1,16,8,8] y)
    <float[8,3,3,3] w = #216, float[8,8,1,1] l = #64, float[8,8,3,3] r = #576> {
  [stem] a = Conv <pads = [1,1,1,1]> (x, w)
  [relu] b = Relu (a)
  [left] c = Conv (b, l)
  [right] d = Conv <pads = [1,1,1,1]> (b, r)
  [both] e = Concat <axis = 1> (c, d)
  [pool] y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (e)
})"};
const Recorded kBranches{"branches", R"(
net (float[4,8] x) => (float[4,8] y) <float[8,8] w = #64, float zero = {0}> {
  [sum] s = ReduceSum <keepdims = 0> (x)
  [greater] c = Greater (s, zero)
  [choice] y = If (c) <
    then_branch = t () => (float[4,8] out) { [inside] m = MatMul (x, w) [last] out = Relu (m) },
    else_branch = e () => (float[4,8] out2) { [inside] out2 = Exp (x) }>
})"};
const Recorded kAttention{"attention", R"(
net (float[1,16,32] x) => (float[1,16,32] y)
    <float[32,32] q = #1024, float[32,32] k = #1024, float[32,32] v = #1024, float[32] g = #32, float[32] b = #32,
     int64[4] heads = {1,16,2,16}, int64[3] rows = {1,16,32}> {
  [norm] n = LayerNormalization (x, g, b)
  [to_q] q0 = MatMul (n, q)
  [to_k] k0 = MatMul (n, k)
  [to_v] v0 = MatMul (n, v)
  [split_q] q1 = Reshape (q0, heads)
  [split_k] k1 = Reshape (k0, heads)
  [split_v] v1 = Reshape (v0, heads)
  [turn_q] q2 = Transpose <perm = [0,2,1,3]> (q1)
  [turn_k] k2 = Transpose <perm = [0,2,3,1]> (k1)
  [turn_v] v2 = Transpose <perm = [0,2,1,3]> (v1)
  [scores] s = MatMul (q2, k2)
  [softmax] p = Softmax <axis = -1> (s)
  [mix] m = MatMul (p, v2)
  [turn] t = Transpose <perm = [0,2,1,3]> (m)
  [join] y = Reshape (t, rows)
})"};

std::string withElements(std::string graph) {
  for (std::size_t at = graph.find('#'); at != std::string::npos; at = graph.find('#', at)) {
    const std::size_t end = graph.find_first_not_of("0123456789", at + 1);
    std::string elements = "{0.5";
    for (int i = 1; i < std::stoi(graph.substr(at + 1, end)); ++i) elements += fmt::format(", {}.25", i % 7);
    graph.replace(at, end - at, elements + "}");
  }
  return graph;
}

std::filesystem::path recordOf(const std::string& name) {
  return std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/unit/compilers/tensorrt_rtx" / (name + ".jsonl");
}

/// The lines of a log that are of use, as readBuildLog() takes them.
void record(const std::filesystem::path& log, const std::filesystem::path& to) {
  std::ofstream out(to);
  for (const std::string& line : split(readTextFile(log).value(), '\n')) {
    const auto starts = [&](std::string_view words) { return line.starts_with(words); };
    if (starts(R"(["warning")") || starts(R"(["verbose", "Layers:)") || starts(R"(["verbose", "ForeignNode {)") ||
        starts(R"(["info", "Total )") || starts(R"(["info", "Max Scratch)"))
      out << line << "\n";
  }
}

void recordIfAsked(const std::string& name, CompilerInput& network) {
  if (rtxPython() == nullptr || std::getenv("FUSESCOPE_RECORD") == nullptr) return;
  const auto job = rtxJob();
  ASSERT_NE(job, nullptr);
  const auto compiled = askRtx(*job, "compile", network);
  ASSERT_TRUE(compiled.ok()) << compiled.error().text();
  std::filesystem::create_directories(recordOf(name).parent_path());
  record(compiled.value().files.at("log.jsonl"), recordOf(name));
}

class ReadBackOf {
 public:
  explicit ReadBackOf(const Recorded& recorded)
      : m_handed(withElements(recorded.graph), rtxOptions(recorded.precisions)) {
    recordIfAsked(recorded.name, m_handed.network());
    auto told =
        rtx().readBack(m_handed.network(), {.json = Json::object(), .files = {{"log.jsonl", recordOf(recorded.name)}}});
    EXPECT_TRUE(told.ok()) << (told.ok() ? "" : told.error().text());
    if (told.ok()) m_told = std::move(told).value();
    m_told.compiler.name = "tensorrt-rtx";
    auto made = readBackPlan(m_handed.plan(), m_told);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
    if (made.ok()) m_made = made.value();
  }

  const ReadBack& told() const { return m_told; }
  const ReadBackPlan& made() const { return *m_made; }
  const Graph& graph() const { return m_handed.graph(); }
  NodeId node(const std::string& name) const { return *graph().findNode(name); }
  /// "matmul{first relu}": the kernels with nodes; "?" behind what is not named.
  std::string kernels() const {
    std::string text;
    for (const ReadBackKernel& kernel : m_told.kernels) {
      if (kernel.nodes.empty()) continue;
      text += (text.empty() ? "" : " ") + kernel.kind + "{";
      for (const auto& [node, certainty] : kernel.nodes)
        text += (text.ends_with('{') ? "" : " ") + graph().node(node).name + (certainty == Certainty::Named ? "" : "?");
      text += "}";
    }
    return text;
  }
  std::string fates() const {
    std::string text;
    for (const NodeId node : graph().order())
      if (const Fate fate = m_made->fateOf(node); fate != Fate::Kernel)
        text += (text.empty() ? "" : " ") + graph().node(node).name + ":" + std::string(name(fate));
    return text;
  }

 private:
  Handed m_handed;
  ReadBack m_told;
  std::shared_ptr<const ReadBackPlan> m_made;
};

/// The first of this kind; an empty one, and a failure, where there is none.
ReadBackKernel kernelOfKind(const ReadBack& told, const std::string& kind) {
  const auto found = std::ranges::find(told.kernels, kind, &ReadBackKernel::kind);
  if (found != told.kernels.end()) return *found;
  ADD_FAILURE() << "no kernel is of the kind " << kind;
  return {.name = {}, .kind = {}};
}

const Decision* decisionOf(const ReadBack& told, const std::string& code) {
  const auto found = std::ranges::find(told.decisions, code, &Decision::code);
  return found == told.decisions.end() ? nullptr : &*found;
}

TEST(TensorrtRtxReader, KernelsHoldTheNodesThatTheirMetadataName) {
  const ReadBackOf read(kMlp);
  EXPECT_EQ(read.kernels(), "matmul{first relu} matmul{second}");
  EXPECT_EQ(read.fates(), "turned:view");
  const ReadBackKernel& first = read.told().kernels.at(0);
  EXPECT_EQ(first.name, "first_myl0_0");
  EXPECT_EQ(first.compute, DataType::F32);
  EXPECT_EQ(first.nodes.at(0).second, Certainty::Named);
  ASSERT_EQ(first.inputs.size(), 1U);
  EXPECT_EQ(first.inputs[0].value, read.graph().findValue("x"));
  EXPECT_EQ(first.inputs[0].type, DataType::F32);
  EXPECT_EQ(first.inputs[0].format, "Linear");
  ASSERT_EQ(first.outputs.size(), 1U);
  EXPECT_FALSE(first.outputs[0].value.valid()) << "its name is the compiler's own";
  EXPECT_EQ(read.told().kernels.at(1).outputs.at(0).value, read.graph().findValue("y"));
  EXPECT_TRUE(first.region.starts_with("{ForeignNode[")) << first.region;
  EXPECT_EQ(first.region, read.told().kernels.at(1).region);
}

TEST(TensorrtRtxReader, MemoryIsADecision) {
  const ReadBackOf read(kMlp);
  const Decision* memory = decisionOf(read.told(), "build.compiler_memory");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->arguments["weights"], 512);
  EXPECT_GT(memory->arguments["activations"].integer(), 0);
  EXPECT_EQ(decisionOf(read.told(), "build.compiler_warns"), nullptr);
}

TEST(TensorrtRtxReader, AConcatenationMayBeAView) {
  const ReadBackOf read(kConvolutions);
  EXPECT_EQ(read.kernels(), "conv{stem relu} conv{right} conv{left} pool{pool}");
  EXPECT_EQ(read.fates(), "both:view");
  EXPECT_EQ(read.told().kernels.at(0).outputs.at(0).format, "NHWC");
}

TEST(TensorrtRtxReader, NodesInBodiesCountAsTheirHolder) {
  const ReadBackOf read(kBranches);
  EXPECT_EQ(read.kernels(),
            "kgen{sum} cjmp{choice greater?} runtime_fusion{choice} jmp{choice} kgen{choice} jmp{choice}");
  EXPECT_EQ(read.fates(), "");
  EXPECT_TRUE(kernelOfKind(read.told(), "memset").nodes.empty());
  EXPECT_TRUE(kernelOfKind(read.told(), "copy").nodes.empty());
  const ReadBackKernel jump = kernelOfKind(read.told(), "cjmp");
  for (const auto& [node, certainty] : jump.nodes)
    EXPECT_EQ(certainty, node == read.node("greater") ? Certainty::Derived : Certainty::Named);
  EXPECT_EQ(read.made().kernelsOf(read.node("choice")).size(), 5U);
}

TEST(TensorrtRtxReader, ProductsOfOneValueShareAKernel) {
  const ReadBackOf read(kAttention);
  EXPECT_EQ(read.kernels(), "kgen{norm} matmul{to_q to_k to_v} matmul{scores} kgen{softmax} matmul{mix} kgen{turn}");
  EXPECT_EQ(read.fates(), "split_q:view split_k:view split_v:view turn_q:view turn_k:view turn_v:view join:view");
}

TEST(TensorrtRtxReader, ADocumentOfItIsReadAgain) {
  for (const Recorded& recorded : {kMlp, kConvolutions, kBranches, kAttention}) {
    const ReadBackOf read(recorded);
    const Json json = toJson(read.made());
    const auto again = readBackPlanFromJson(json, read.made().requested);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(toJson(*again.value()), json) << recorded.name;
  }
}

/// x -> MatMul -> Relu -> Transpose -> MatMul -> Relu -> MatMul -> y, under names that look like the list's own words.
std::string networkOfHardNames() {
  onnxlib::FileModel file{.irVersion = 8, .producer = "test", .opsets = {{"", 18}}};
  const onnxlib::FileType type{.dtype = DataType::F32, .ranked = true, .dims = {{.size = 8}, {.size = 8}}};
  const auto zeros = std::make_shared<std::vector<std::byte>>(256);
  file.graph.name = "g";
  file.graph.inputs.push_back({"x", type});
  file.graph.outputs.push_back({"y", type});
  file.graph.initializers.push_back(
      {.name = "w", .dtype = DataType::F32, .dims = {8, 8}, .owner = zeros, .data = zeros->data(), .hasData = true});
  const auto add = [&](std::string name, std::string op, std::vector<std::string> inputs, std::string output) {
    file.graph.nodes.push_back(
        {.name = std::move(name), .op = std::move(op), .inputs = std::move(inputs), .outputs = {std::move(output)}});
  };
  add("a,b", "MatMul", {"x", "w"}, "a\nb");
  add("c]d", "Relu", {"a\nb"}, "c]");
  add("", "Transpose", {"c]"}, "t");
  add("e\nf [ONNX Layer: a,b]", "MatMul", {"t", "w"}, "u");
  add("a,b][ONNX Layer: c]d", "Relu", {"u"}, "v");
  add("Name: x, LayerType: y", "MatMul", {"v", "w"}, "y");
  file.graph.nodes[2].attributes.push_back({.name = "perm", .reference = {}, .value = std::vector<std::int64_t>{1, 0}});
  return onnxlib::modelBytes(file).value();
}

/// Numbers cure such names; without them as much is bound as is certain, and nothing to a kernel that it is not in.
TEST(TensorrtRtxReader, NamesThatLookLikeAListBindNothingWrong) {
  const TemporaryFolder folder;
  const auto path = folder.write("hard.onnx", networkOfHardNames());
  const auto plan = plannedFile(path, rtxOptions());
  ASSERT_NE(plan, nullptr);
  using Names = std::vector<std::string>;
  const std::vector<Names> expected = {
      {"a,b", "c]d"}, {"e\nf [ONNX Layer: a,b]", "a,b][ONNX Layer: c]d"}, {"Name: x, LayerType: y"}};
  auto numbered = makeCompilerInput(plan, CompilerInputTypes::AsPlanned, {});
  auto named = networkAsNamed(plan, path);
  ASSERT_TRUE(numbered.ok() && named.ok());
  for (auto& [name, network] :
       {std::pair<std::string, CompilerInput&>{"hard_numbered", numbered.value()}, {"hard_names", named.value()}}) {
    recordIfAsked(name, network);
    const auto told = rtx().readBack(network, {.json = Json::object(), .files = {{"log.jsonl", recordOf(name)}}});
    ASSERT_TRUE(told.ok()) << told.error().text();
    ASSERT_EQ(told.value().kernels.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Names held;
      for (const auto& [node, certainty] : told.value().kernels[i].nodes) held.push_back(plan->graph().node(node).name);
      EXPECT_EQ(held, expected[i]) << name << ": " << i;
    }
  }
}

// Hand-written lists over the network x -> first -> relu -> turn -> second -> y.

constexpr const char* kChain = R"(
net (float[4,8] x) => (float[8,8] y) <float[8,8] w = #64, float[4,8] w2 = #32> {
  [first] a = MatMul (x, w)
  [relu] b = Relu (a)
  [turn] c = Transpose <perm = [1,0]> (b)
  [second] y = MatMul (c, w2)
})";

std::string tensor(const std::string& name, const std::string& type = "Float", const std::string& dims = "[4,8]",
                   const std::string& format = "(Linear) Row major linear format") {
  return "{ Name: " + name + ", Dimensions: " + dims + ", Strides: [1,1], StrideOrder: [0,1], Datatype: " + type +
         ", Format: " + format + " }";
}

std::string layer(const std::string& name, const std::string& type, const std::string& input, const std::string& output,
                  const std::string& metadata) {
  return "Name: " + name + ", LayerType: " + type + ", Inputs: [ " + input + "], Constants: [], Outputs: [ " + output +
         "], TacticName: , StreamId: 0, Metadata: " + metadata + "\n";
}

ReadBack readOf(Handed& handed, const std::string& layers, const std::string& more = {}) {
  const std::string log = Json{"verbose", "Layers:\n" + layers}.dump() + "\n" + more;
  // The probe writes blanks behind commas, as Python does.
  const auto read = readBuildLog("[\"verbose\", " + log.substr(log.find(',') + 1));
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().text());
  return read.ok() ? readLayers(handed.network(), read.value()) : ReadBack();
}

std::vector<std::string> nodesOf(const Handed& handed, const ReadBackKernel& kernel) {
  std::vector<std::string> names;
  for (const auto& [node, certainty] : kernel.nodes)
    names.push_back(handed.graph().node(node).name + ":" + std::string(name(certainty)));
  return names;
}

TEST(TensorrtRtxReader, AKernelThatOnlyMovesHoldsTheMoveBetweenItsNeighbours) {
  Handed handed(withElements(kChain));
  const ReadBack told =
      readOf(handed, layer("n0_myl0_0", "gemm", tensor("v0"), tensor("t0"), "[ONNX Layer: n0]\x1f[ONNX Layer: n1]") +
                         layer("__myl_Tran_myl0_1", "kgen", tensor("t0"), tensor("t1"), "") +
                         layer("n3_myl0_2", "gemm", tensor("t1"), tensor("t2"), "[ONNX Layer: n3]"));
  ASSERT_EQ(told.kernels.size(), 3U);
  EXPECT_EQ(nodesOf(handed, told.kernels[1]), std::vector<std::string>{"turn:derived"});
  EXPECT_TRUE(told.fates.empty());
}

TEST(TensorrtRtxReader, AKernelThatCalculatesIsNotTakenForAMove) {
  Handed handed(withElements(kChain));
  const ReadBack told = readOf(handed, layer("n0_myl0_0", "gemm", tensor("v0"), tensor("t0"), "[ONNX Layer: n0]") +
                                           layer("__myl_TranMul_myl0_1", "kgen", tensor("t0"), tensor("t1"), "") +
                                           layer("n3_myl0_2", "gemm", tensor("t1"), tensor("t2"), "[ONNX Layer: n3]"));
  ASSERT_EQ(told.kernels.size(), 3U);
  EXPECT_TRUE(told.kernels[1].nodes.empty());
  EXPECT_EQ(told.fates, (std::map<NodeId, Fate>{{*handed.graph().findNode("turn"), Fate::View}}))
      << "nothing is said of relu";
}

TEST(TensorrtRtxReader, ConversionsAreKernelsWithoutNodesThatChangeTypeOrFormat) {
  Handed handed(withElements(kChain));
  const ReadBack told = readOf(handed, layer("c", "kgen", tensor("v0"), tensor("t0", "Half"), "") +
                                           layer("r", "kgen", tensor("t0", "Half"),
                                                 tensor("t1", "Half", "[4,8]", "(NHWC) Channel major format"), "") +
                                           layer("s", "copy", tensor("t1"), tensor("t2"), ""));
  ASSERT_EQ(told.conversions.size(), 2U);
  EXPECT_TRUE(told.conversions[0].isCast);
  EXPECT_EQ(told.conversions[0].from, "f32");
  EXPECT_EQ(told.conversions[0].to, "f16");
  EXPECT_EQ(told.conversions[0].value, handed.graph().findValue("x"));
  EXPECT_FALSE(told.conversions[1].isCast);
  EXPECT_EQ(told.conversions[1].to, "NHWC");
  EXPECT_FALSE(told.conversions[1].value.valid());
}

TEST(TensorrtRtxReader, ATensorOfOtherExtentsIsNoValueOfTheNetwork) {
  Handed handed(withElements(kChain));
  const ReadBack told = readOf(handed, layer("a", "gemm", tensor("v0", "Float", "[4,9]"), tensor("t"), "") +
                                           layer("b", "gemm", tensor("v0", "Float", "[32]"), tensor("t"), ""));
  EXPECT_FALSE(told.kernels.at(0).inputs.at(0).value.valid());
  EXPECT_EQ(told.kernels.at(1).inputs.at(0).value, handed.graph().findValue("x"));
}

TEST(TensorrtRtxReader, KernelsHaveNamesOfTheirOwnAndUnknownNodesAreNone) {
  Handed handed(withElements(kChain));
  const ReadBack told = readOf(handed, layer("k", "gemm", tensor("v0"), tensor("t"), "[ONNX Layer: n77]") +
                                           layer("k", "gemm", tensor("t"), tensor("t"), "[ONNX Layer: n3]"));
  EXPECT_EQ(told.kernels.at(0).name, "k");
  EXPECT_EQ(told.kernels.at(1).name, "k #2");
  EXPECT_TRUE(told.kernels.at(0).nodes.empty());
}

TEST(TensorrtRtxReader, WarningsAreOfTheNodesThatTheySpeakOf) {
  Handed handed(withElements(kChain));
  const std::string warning = Json{"warning", "Detected layernorm nodes in FP16: n1, n3_5 may overflow"}.dump();
  const ReadBack told = readOf(handed, layer("k", "gemm", tensor("v0"), tensor("t"), "[ONNX Layer: n0]"),
                               warning + "\n" + warning + "\n");
  ASSERT_EQ(told.decisions.size(), 1U);
  EXPECT_EQ(told.decisions[0].subjects, (std::vector{Subject::node("relu"), Subject::node("second")}));
  EXPECT_EQ(told.decisions[0].arguments["message"], "Detected layernorm nodes in FP16: relu, second_5 may overflow");
}

TEST(TensorrtRtxReader, ALogWithoutAListIsAnError) {
  for (const std::string log : {"", "[\"verbose\", \"nothing\"]\n", "no message\n", "[\"info\", 3]\n", "[]\n",
                                "[\"verbose\", \"Layers:\\nName: x, LayerType: y\"]\n"})
    EXPECT_FALSE(readBuildLog(log).ok()) << log;
}

}  // namespace
}  // namespace fusescope::test
