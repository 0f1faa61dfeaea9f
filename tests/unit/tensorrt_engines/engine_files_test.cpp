// Engines that others built with TensorRT 8 to 10: their files become read-back plans.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analysis/users.h"
#include "base/files.h"
#include "diff/diff_plans.h"
#include "frontends/tensorrt/engine_layers.h"
#include "onnxlib/onnxlib.h"
#include "session/explain.h"
#include "session/import_engine.h"
#include "tests/support/paths.h"
#include "tests/unit/tensorrt_engines/engine_networks.h"
#include "tests/unit/tensorrt_engines/imported_engine.h"

namespace fusescope::test {
namespace {

std::string nodesText(const ReadBackPlan& made, FusedNodeId kernel) {
  std::string text;
  for (const NodeId node : made.fusedNodes[kernel.index].nodes) text += " " + made.graph().node(node).name;
  return text;
}

/// The names in metadata of a layer, else those between " + ", that are nodes of the network: each is in the kernel.
void expectNamedNodes(const ReadBackPlan& made, const EngineLayers& layers) {
  for (const FusedNode& kernel : made.fusedNodes) {
    const auto layer = std::ranges::find(layers.layers, kernel.name, &ListedLayer::name);
    if (layer == layers.layers.end() || kernel.nodes.empty()) continue;
    std::set<std::string> held;
    for (const NodeId node : kernel.nodes) held.insert(made.graph().node(node).name);
    for (const std::string& name : namesInMetadata(layer->metadata))
      EXPECT_TRUE(!made.graph().findNode(name) || held.contains(name)) << kernel.name << " lacks " << name;
  }
}

/// What flows between two kernels in the engine flows between their nodes in the network: from one to the other over
/// nodes that no third kernel holds. Tensors that are values of the network have as many elements as these.
void expectEdgesAgree(const ReadBackPlan& made, const EngineLayers& layers) {
  const Graph& graph = made.graph();
  std::map<std::string, FusedNodeId> kernelOf;
  for (const FusedNode& kernel : made.fusedNodes) kernelOf[kernel.name] = kernel.id;
  std::map<std::string, std::set<FusedNodeId>> makers;  // by tensor: kernels with nodes, seen through those without
  std::size_t edges = 0;
  for (const ListedLayer& layer : layers.layers) {
    const FusedNodeId id = kernelOf.at(layer.name);
    const FusedNode& kernel = made.fusedNodes[id.index];
    std::set<FusedNodeId> sources;
    for (const ListedTensor& input : layer.inputs)
      if (const auto known = makers.find(input.name); known != makers.end())
        sources.insert(known->second.begin(), known->second.end());
    for (const FusedNodeId source : sources) {
      if (kernel.nodes.empty()) break;
      ++edges;
      std::set<NodeId> reached;
      std::vector<NodeId> open = made.fusedNodes[source.index].nodes;
      // A node in whose place an equal one is calculated leads on as that does.
      for (const NodeId node : made.fusedNodes[source.index].nodes)
        for (const ValueId value : valuesRead(graph.node(node)))
          for (const NodeId user : graph.value(value).consumers)
            if (made.fateOf(user) == Fate::Merged && graph.node(user).op == graph.node(node).op) open.push_back(user);
      bool meets = false;
      while (!open.empty() && !meets) {
        const NodeId node = open.back();
        open.pop_back();
        meets = std::ranges::count(kernel.nodes, node) > 0;
        if (!reached.insert(node).second) continue;
        for (const ValueId value : graph.node(node).outputs)
          for (const NodeId user : graph.value(value).consumers) {
            const auto& holders = made.kernelsOf(user);
            const bool passes =
                holders.empty() || std::ranges::count(holders, id) + std::ranges::count(holders, source) > 0;
            if (passes) open.push_back(user);
          }
      }
      EXPECT_TRUE(meets) << made.fusedNodes[source.index].name << " (" << nodesText(made, source) << ") -> "
                         << kernel.name << " (" << nodesText(made, id) << ")";
    }
    for (const ListedTensor& output : layer.outputs)
      makers[output.name] = kernel.nodes.empty() ? sources : std::set{id};
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) {
      const KernelValue& value = made.kernels[id.index].outputs[i];
      if (!value.value.valid()) continue;
      const auto extents = graph.value(value.value).type.shape.fixed();
      ASSERT_TRUE(extents) << graph.value(value.value).name;
      EXPECT_EQ(elementCount(*extents), elementCount(layer.outputs[i].dims)) << layer.name;
    }
  }
  EXPECT_GT(edges, 4U);
}

class EngineFolder : public ::testing::TestWithParam<std::string> {};

TEST_P(EngineFolder, NearlyAllLayersArePlacedAndNoneWrongly) {
  FUSESCOPE_REQUIRE_SHARED();
  const Engine& engine = engineNamed(GetParam());
  const Imported imported(engine);
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  const Placement& placement = *made->placement;
  std::string unplaced;
  for (const UnplacedLayer& layer : placement.unplaced) {
    unplaced += "\n  " + layer.layer + ": " + layer.why;
    EXPECT_FALSE(layer.why.empty()) << layer.layer;
  }
  EXPECT_EQ(placement.layers, std::ssize(imported.layers().layers));
  EXPECT_EQ(placement.layers, placement.placed + placement.conversions + std::ssize(placement.unplaced));
  EXPECT_GE(static_cast<double>(placement.placed + placement.conversions), 0.98 * static_cast<double>(placement.layers))
      << unplaced;
  expectNamedNodes(*made, imported.layers());
  expectEdgesAgree(*made, imported.layers());
  std::array<std::size_t, 4> bindings{};
  double ms = 0, conversionMs = 0;
  std::size_t timed = 0, silent = 0;
  for (const FusedNode& kernel : made->fusedNodes) {
    const auto& details = made->kernels[kernel.id.index];
    for (const Certainty certainty : details.certainty) ++bindings[static_cast<std::size_t>(certainty)];
    timed += details.ms ? 1 : 0;
    (kernel.nodes.empty() ? conversionMs : ms) += details.ms.value_or(0);
  }
  std::string names;
  for (const NodeId node : made->graph().order())
    if (made->fateOf(node) == Fate::NotDisclosed) ++silent, names += " " + made->graph().node(node).name;
  EXPECT_EQ(timed, engine.profile.empty() ? 0 : made->fusedNodes.size());
  EXPECT_EQ(silent, 0U) << names;
  fmt::print(
      "suite: engine {}: {} layers, {} placed, {} conversions, {} not placed; bindings {} named, {} derived, {} "
      "guessed; "
      "{} nodes; kernels {:.4f} ms, conversions {:.4f} ms\n",
      engine.name, placement.layers, placement.placed, placement.conversions, placement.unplaced.size(), bindings[1],
      bindings[2], bindings[3], made->graph().nodeCount(), ms, conversionMs);
  const auto again = readBackPlanFromJson(toJson(*made), made->requested);
  ASSERT_TRUE(again.ok()) << again.error().text();
  EXPECT_EQ(toJson(*again.value()), toJson(*made));
}

TEST_P(EngineFolder, ItsLayersAloneAreANetwork) {
  FUSESCOPE_REQUIRE_SHARED();
  EngineImport request;
  request.files.layers = data(engineNamed(GetParam()).layers);
  const auto artifact = importEngine(request);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const ReadBackPlan& made = *artifact.value().made;
  EXPECT_EQ(made.model->format, "tensorrt-layers");
  const auto& decisions = made.model->decisions;
  EXPECT_TRUE(std::ranges::count(decisions, "import.network_of_layers", &Decision::code) == 1);
  EXPECT_TRUE(made.placement->unplaced.empty());
  EXPECT_GT(made.placement->placed, 0);
  EXPECT_EQ(made.placement->placed, static_cast<std::int64_t>(made.graph().nodeCount()));
}

INSTANTIATE_TEST_SUITE_P(All, EngineFolder, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Engine& engine : engines()) names.push_back(engine.name);
                           return names;
                         }()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
                           return name;
                         });

TEST(EngineFiles, NamesAloneAreEnoughWhereTheyAreOfNodes) {
  FUSESCOPE_REQUIRE_SHARED();
  const Engine& engine = engineNamed("pytorch-resnet18-A100-fp16");
  Json names{{"Layers", Json::array()}, {"Bindings", Json::array({"input.1", "191"})}};
  const auto layers = parseEngineLayers(textOf(data(engine.layers)));
  ASSERT_TRUE(layers.ok());
  for (const ListedLayer& layer : layers.value().layers) names["Layers"].push_back(layer.name);
  const Imported whole(engine), named(engine, names.dump());
  const auto a = whole.read(), b = named.read();
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_EQ(a->placement->placed, b->placement->placed);
  // Names tell no tensors, so that what lies between tensors is not known.
  for (const FusedNode& kernel : b->fusedNodes) {
    const FusedNode& same = *a->findFusedNode(kernel.name);
    for (const NodeId node : kernel.nodes) EXPECT_EQ(std::ranges::count(same.nodes, node), 1) << kernel.name;
    EXPECT_EQ(kernel.nodes.empty(), same.nodes.empty()) << kernel.name;
  }
  EngineImport alone;
  alone.files.layers = named.request.files.layers;
  const auto refused = importEngine(alone);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("--profilingVerbosity=detailed"), std::string::npos) << refused.error().text();
}

TEST(EngineFiles, LayersOfAnotherNetworkAreNotPlaced) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("trt10-onnx-alexnet-fp16"));
  imported.request.model = imported.folder().write("other.onnx", resnet18Bytes(ExportedNames::Paths, 1));
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->placement->placed, 0);
  ASSERT_FALSE(made->placement->unplaced.empty());
  EXPECT_NE(made->placement->unplaced.front().why.find("which the network does not have"), std::string::npos)
      << made->placement->unplaced.front().why;
  // Of the same names and other extents.
  Imported other(engineNamed("pytorch-resnet18-A100-fp16"));
  other.request.model = other.folder().write("other.onnx", resnet18Bytes(ExportedNames::Numbers, 8));
  const auto contradicted = other.read();
  ASSERT_NE(contradicted, nullptr);
  EXPECT_EQ(contradicted->placement->placed, 0);
  EXPECT_NE(contradicted->placement->unplaced.front().why.find("another network, or for other extents"),
            std::string::npos)
      << contradicted->placement->unplaced.front().why;
}

TEST(EngineFiles, TheLogTellsVersionDeviceTacticsAndRegions) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("trt10.16-mnist"));
  // The list that the log ends with is of a build in f16. Without it nothing of the log contradicts the layers.
  std::string log = textOf(data("trt10.16-mnist/trtexec-verbose-build.log"));
  log.resize(log.find("Engine Layer Information:"));
  imported.request.files.log = imported.folder().write("build.log", log);
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->compiler.version, "10.16.1");
  EXPECT_EQ(made->placement->device, "NVIDIA H100 PCIe");
  EXPECT_EQ(made->options.precisions, std::vector{DataType::F16});
  EXPECT_EQ(made->target.name, "tensorrt-10");
  const auto told = [&](std::string_view code) {
    std::vector<std::string> all;
    for (const Decision& decision : made->decisions)
      if (decision.code == code) all.push_back(decision.subjects.empty() ? "" : decision.subjects.front().text());
    return all;
  };
  EXPECT_EQ(told("build.layers_of_node"), (std::vector<std::string>{"node_linear", "node_linear_1"}));
  EXPECT_EQ(told("build.tactics_timed").size(), 4U);  // of the four layers that are called alike in both
  EXPECT_EQ(told("build.compiler_memory").size(), 1U);
  EXPECT_TRUE(told("build.types_ignored").empty());
  // The log lists its own engine, in which regions hold what the other has kernels for.
  imported.request.files.log = data("trt10.16-mnist/trtexec-verbose-build.log");
  imported.request.files.layers = imported.request.files.log;
  imported.request.files.profile = data("trt10.16-mnist/trtexec-dumpProfile.log");
  const auto ofLog = imported.read();
  ASSERT_NE(ofLog, nullptr);
  EXPECT_EQ(ofLog->placement->layers, 6);
  EXPECT_TRUE(ofLog->placement->unplaced.empty());
  const auto* region = ofLog->findFusedNode("{ForeignNode[gemm2.bias + ONNXTRT_Broadcast_4...ONNXTRT_castHelper_9]}");
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(region->nodes.size(), 6U);  // from the Reshape to the ArgMax, as the log says
}

TEST(EngineFiles, TypesThatWereSetAndIgnoredAreSaid) {
  Imported imported(engineNamed("trt10.16-mnist"));
  if (!sharedFolder()) GTEST_SKIP() << "no shared test material";
  imported.request.files.log = imported.folder().write(
      "build.log",
      "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx --fp16\n"
      "[01/01/2026-00:00:00] [I] Precision: FP32+FP16\n"
      "[01/01/2026-00:00:00] [V] [TRT] Registering layer: node_linear_1 for ONNX node: node_linear\n"
      "[01/01/2026-00:00:00] [I] Set layer node_linear_1 to precision fp32\n"
      "[01/01/2026-00:00:00] [W] [TRT] No implementation of layer node_conv2d[Conv] + node_relu[Relu] obeys the "
      "requested constraints in strict mode.\n");
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(made->compiler.version, "8.6.1");
  std::map<std::string, std::vector<Subject>> told;
  for (const Decision& decision : made->decisions) told[decision.code] = decision.subjects;
  ASSERT_EQ(told["build.type_set"].size(), 1U);
  EXPECT_EQ(told["build.type_set"].front().text(), "node_linear");
  ASSERT_EQ(told["build.types_ignored"].size(), 2U);
  EXPECT_EQ(told["build.types_ignored"].front().text(), "node_conv2d");
  ASSERT_EQ(made->pins.size(), 1U);  // what the log says was set is what was asked for
  EXPECT_EQ(made->graph().node(made->pins.front().node).name, "node_linear");
  EXPECT_EQ(made->pins.front().result, PinResult::Obeyed);
}

TEST(EngineFiles, AProfileOfAnotherBuildIsSaidToBe) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("trt10.16-mnist"));
  imported.request.files.profile = data("trt10.16-mnist/trtexec-dumpProfile.log");
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  // Two layers of both builds are called alike; what they took in the other is no time of this one.
  EXPECT_TRUE(std::ranges::none_of(made->kernels, [](const auto& kernel) { return kernel.ms.has_value(); }));
  const auto other = std::ranges::find(made->decisions, "build.profile_of_another", &Decision::code);
  ASSERT_NE(other, made->decisions.end());
  EXPECT_EQ(other->arguments["rows"], 15);
  EXPECT_EQ(other->arguments["unmatched"], 13);
  EXPECT_EQ(other->arguments["left_out"], "all of its times");
}

TEST(EngineFiles, OfAProfileWithoutARowOfTheEngineNoTimesAreTold) {
  FUSESCOPE_REQUIRE_SHARED();
  Imported imported(engineNamed("pytorch-resnet18-A100-fp16"));
  const Engine& other = engineNamed("trt10-onnx-alexnet-fp16");
  imported.request.files.profile = data(other.profile);
  const auto made = imported.read();
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(std::ranges::none_of(made->kernels, [](const auto& kernel) { return kernel.ms.has_value(); }));
  EXPECT_EQ(made->placement->times, "");
}

/// What is explained is what the engine has, whatever was predicted for it.
TEST(EngineFiles, ANodeIsExplainedInTheTypesOfTheEngine) {
  FUSESCOPE_REQUIRE_SHARED();
  const Imported imported(engineNamed("trt10-onnx-alexnet-fp16"));
  const auto artifact = importEngine(imported.request);
  ASSERT_TRUE(artifact.ok()) << artifact.error().text();
  const ReadBackPlan& made = *artifact.value().made;
  int lowered = 0;
  for (const NodeId id : made.graph().order()) {
    const std::string& name = made.graph().node(id).name;
    const auto grant = std::ranges::find(made.precisionMap, id, &PrecisionGrant::node);
    const auto json = explainJson(artifact.value(), name);
    ASSERT_TRUE(json.ok()) << json.error().text();
    const bool isDisclosed = grant->granted != DataType::Undefined;
    EXPECT_EQ(json.value()["granted"], isDisclosed ? Json(fusescope::name(grant->granted)) : Json(nullptr)) << name;
    lowered += grant->granted == DataType::F16 ? 1 : 0;
    for (const Json& edge : json.value()["edges"]) {
      const auto value = made.graph().findValue(edge["value"].get<std::string>());
      const DataType stored = made.storedType(*value);
      EXPECT_EQ(edge["type"], stored == DataType::Undefined ? Json(nullptr) : Json(fusescope::name(stored)));
    }
  }
  EXPECT_GT(lowered, 5);
  // Its bindings are f16, whatever the network says.
  for (const auto* values : {&made.graph().inputs(), &made.graph().outputs()})
    for (const ValueId value : *values) EXPECT_EQ(made.storedType(value), DataType::F16);
  for (const NodeId id : {made.graph().order().front(), made.graph().order().back()}) {
    const auto json = explainJson(artifact.value(), made.graph().node(id).name);
    ASSERT_TRUE(json.ok()) << json.error().text();
    ASSERT_FALSE(json.value()["borders"].empty());
    for (const Json& border : json.value()["borders"]) EXPECT_EQ(border["type"], "f16");
  }
  const auto diff = diffPlans({.cover = artifact.value().plan.get(), .label = "a"}, {.cover = &made, .label = "b"});
  ASSERT_TRUE(diff.ok()) << diff.error().text();
  EXPECT_NE(diff.value().b.precision.find("f16"), std::string::npos) << diff.value().b.precision;
  EXPECT_EQ(diff.value().b.casts, std::ssize(made.conversions) + std::ssize(made.casts));
}

TEST(EngineFiles, ADumpedListIsTheExportedOne) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto a = parseEngineLayers(textOf(data("trt10.16-mnist/exportLayerInfo.json")));
  const auto b = parseEngineLayers(textOf(data("trt10.16-mnist/trtexec-dumpLayerInfo.log")));
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_EQ(a.value().layers.size(), b.value().layers.size());
  for (std::size_t i = 0; i < a.value().layers.size(); ++i) {
    const ListedLayer &x = a.value().layers[i], &y = b.value().layers[i];
    EXPECT_EQ(x.name, y.name);
    EXPECT_EQ(x.type, y.type);
    EXPECT_EQ(x.tactic.empty(), y.tactic.empty());  // two builds: they may have chosen others
    EXPECT_EQ(x.weights, y.weights);
    EXPECT_EQ(namesInMetadata(x.metadata), namesInMetadata(y.metadata));
    ASSERT_EQ(x.inputs.size(), y.inputs.size());
    for (std::size_t k = 0; k < x.inputs.size(); ++k) EXPECT_EQ(x.inputs[k].dims, y.inputs[k].dims);
  }
}

TEST(EngineFiles, NodesThatWereBuiltAreSupportedWhateverTheTableSays) {
  FUSESCOPE_REQUIRE_SHARED();
  EngineImport request;
  request.files.layers = data("trt10.16-mnist/exportLayerInfo.json");
  const auto artifact = importEngine(request);
  ASSERT_TRUE(artifact.ok());
  const auto& decisions = artifact.value().plan->decisions;
  EXPECT_GT(std::ranges::count(decisions, "validate.was_built", &Decision::code), 0);
  for (const Segment& segment : artifact.value().plan->segments) EXPECT_EQ(segment.kind, SegmentKind::Accelerated);
}

/// Our rules do not know why TensorRT fused nothing there; what they refuse is no decision of it.
TEST(EngineFiles, WhatOurRulesDecideIsAPredictionAboutTheEngine) {
  const auto made = Imported(engineNamed("pytorch-resnet18-A100-fp16")).read();
  ASSERT_NE(made, nullptr);
  std::size_t alone = 0, apart = 0;
  for (const Decision& decision : made->decisions) {
    if (decision.kind != DecisionKind::Fuse || decision.by.isDirective()) continue;
    EXPECT_TRUE(decision.code.starts_with("fuse.predicted") || decision.code == "fuse.other_segment")
        << decision.code << ": " << message(decision);
    alone += decision.code == "fuse.predicted_alone" ? 1 : 0;
    if (decision.code != "fuse.predicted_apart") continue;
    ++apart;
    EXPECT_TRUE(
        message(decision).starts_with("our own rules, which only predict what tensorrt-8 does, do not fuse it: "))
        << message(decision);
  }
  EXPECT_GT(alone + apart, 0U);
}

}  // namespace
}  // namespace fusescope::test
