#include <algorithm>

#include "frontends/torch/program_inputs.h"
#include "passes/pipelines.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

struct ContainerCase {
  Pt2Kind kind;
  const char* schema;
  std::string_view name;
};
const std::vector<ContainerCase> kContainers{
    {Pt2Kind::PlainZip, "7.3", "plain zip"},      {Pt2Kind::PlainZip, "8.2", "plain zip"},
    {Pt2Kind::PlainZip, "8.7", "plain zip"},      {Pt2Kind::PickledWeights, "8.8", "PT2 archive, pickled weights"},
    {Pt2Kind::RawWeights, "8.14", "PT2 archive"}, {Pt2Kind::RawWeights, "8.20", "PT2 archive"}};

const Value& valueCalled(const Model& model, std::string_view name) {
  const auto id = model.graph->findValue(name);
  EXPECT_TRUE(id.has_value()) << name;
  return model.graph->value(id.value_or(ValueId(0)));
}

std::vector<float> floatsOf(const Tensor& tensor) {
  const auto data = tensor.data<float>();
  return {data.begin(), data.end()};
}

void checkSmall(const Model& model) {
  EXPECT_EQ(model.format, kExportedProgramFormat);
  EXPECT_EQ(model.producer, "PyTorch 2.11.0");
  EXPECT_EQ(model.fileNodes, 2);
  EXPECT_FALSE(model.weightless);
  EXPECT_EQ(model.parameters, 12 + 3 + 3);
  const Graph& graph = *model.graph;
  ASSERT_EQ(graph.order().size(), 2U);
  const Node& linear = graph.node(graph.order()[0]);
  EXPECT_EQ(linear.domain + "." + linear.op, "torch.ops.aten.linear.default");
  EXPECT_EQ(linear.name, "linear");
  EXPECT_NE(model.sourceOf(linear).find("net.py\", line 7"), std::string::npos);
  const Node& add = graph.node(graph.order()[1]);
  EXPECT_EQ(add.intAttribute("alpha", 0), 2);
  EXPECT_EQ(model.origins[0].module, "fc");
  EXPECT_EQ(model.origins[1].module, "");
  EXPECT_EQ(valueCalled(model, "picture").type.text(), "f32[s0, 4]");
  EXPECT_EQ(valueCalled(model, "add").type.text(), "f32[s0, 3]");
  const Tensor& weight = *valueCalled(model, "fc.weight").constant;
  EXPECT_EQ(floatsOf(weight), (std::vector<float>{.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5}));
  const Tensor& tied = *valueCalled(model, "tied").constant;
  EXPECT_EQ(floatsOf(tied), (std::vector<float>{8.5, 9.5, 10.5}));
  ASSERT_EQ(model.inputSpecs.size(), 1U);
  const InputSpec expected{.name = "picture",
                           .dtype = DataType::F32,
                           .min = {2, 4},
                           .opt = {5, 4},
                           .max = {16, 4},
                           .source = torch::kFromExample};
  EXPECT_EQ(model.inputSpecs[0], expected);
}

TEST(Pt2Containers, EachIsReadAlike) {
  for (const ContainerCase& container : kContainers) {
    SCOPED_TRACE(std::string(container.name) + " " + container.schema);
    const TemporaryFolder folder;
    const auto path = folder.write("net.pt2", pt2Bytes(container.kind, smallProgram(container.schema)));
    const auto model = importModel(path);
    ASSERT_TRUE(model.ok()) << model.error().text();
    checkSmall(model.value());
    const auto facts = readExportedProgram(path);
    ASSERT_TRUE(facts.ok()) << facts.error().text();
    EXPECT_EQ(torch::name(facts.value().container), container.name);
    EXPECT_EQ(facts.value().examplesMissing, "");
    ASSERT_TRUE(facts.value().examples.contains("picture"));
    const Tensor& example = facts.value().examples.at("picture");
    EXPECT_EQ(example.dims(), (Dims{5, 4}));
    EXPECT_EQ(floatsOf(example)[1], 5.0f) << "its strides are 1 and 5";
    const auto inputs = torch::userInputsOf(facts.value().program);
    ASSERT_EQ(inputs.size(), 2U);
    EXPECT_TRUE(inputs[1].isConstant);
    EXPECT_EQ(inputs[1].name, "factor");
    EXPECT_EQ(inputs[1].constant.dump(), R"({"as_float":3.0})");
    EXPECT_TRUE(prepareModel(model.value()).ok());
  }
}

/// Older PyTorch writes numbers that JSON does not have as Python does.
TEST(Pt2Containers, NumbersThatAreNoneAreRead) {
  for (const char* number : {"-Infinity", "Infinity", "NaN", "\"-Infinity\""}) {
    Pt2Content content = smallProgram("7.3");
    content.program =
        with(content.program, R"({"as_int": 2}, "kind": 2)", std::string("{\"as_float\": ") + number + "}");
    const auto model = importPt2(pt2Bytes(Pt2Kind::PlainZip, content));
    ASSERT_TRUE(model.ok()) << model.error().text();
    const Node& add = model.value().graph->node(model.value().graph->order()[1]);
    EXPECT_NE(std::string(number).find(add.textAttribute("alpha", "none")), std::string::npos);
  }
}

TEST(Pt2Containers, WeightsAreViewsOfTheFile) {
  const auto model = importPt2(pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const Tensor& weight = *valueCalled(model.value(), "fc.weight").constant;
  ASSERT_EQ(model.value().files.size(), 1U);
  EXPECT_TRUE(model.value().files[0]->holds(weight.bytes()));
}

TEST(Pt2Containers, WindowsOnOneStorageShareIt) {
  const auto model = importPt2(pt2Bytes(Pt2Kind::PickledWeights, smallProgram()));
  ASSERT_TRUE(model.ok()) << model.error().text();
  Pt2Content content = smallProgram();
  content.constants[0].second = {.key = "0", .sizes = {3}, .strides = {4}, .offset = 1};
  const auto strided = importPt2(pt2Bytes(Pt2Kind::RawWeights, content));
  ASSERT_TRUE(strided.ok()) << strided.error().text();
  EXPECT_EQ(floatsOf(*valueCalled(strided.value(), "tied").constant), (std::vector<float>{1.5, 5.5, 9.5}));
  content.weights.push_back({"again", {.key = "0", .sizes = {3, 4}, .strides = {4, 1}}});
  content.program =
      with(content.program, R"({"parameter": {"arg": {"name": "p_fc_bias"}, "parameter_name": "fc.bias"}})",
           R"({"parameter": {"arg": {"name": "p_fc_bias"}, "parameter_name": "again"}})");
  const auto twice = importPt2(pt2Bytes(Pt2Kind::RawWeights, content));
  ASSERT_TRUE(twice.ok()) << twice.error().text();
  EXPECT_EQ(valueCalled(twice.value(), "again").constant->bytes(),
            valueCalled(twice.value(), "fc.weight").constant->bytes());
}

TEST(Pt2Containers, CompressedMembersAreRead) {
  for (const Pt2Kind kind : {Pt2Kind::PlainZip, Pt2Kind::PickledWeights, Pt2Kind::RawWeights}) {
    Pt2Content content = smallProgram();
    content.deflated = true;
    const auto model = importPt2(pt2Bytes(kind, content));
    ASSERT_TRUE(model.ok()) << model.error().text();
    checkSmall(model.value());
  }
}

TEST(Pt2Containers, WeightsWithoutBytesAreNoData) {
  Pt2Content content = smallProgram();
  content.storages["1"].clear();
  const auto model = importPt2(pt2Bytes(Pt2Kind::RawWeights, content));
  ASSERT_TRUE(model.ok()) << model.error().text();
  EXPECT_TRUE(model.value().weightless);
  EXPECT_FALSE(valueCalled(model.value(), "fc.bias").constant->hasData());
}

TEST(Pt2Containers, WithoutExamplesItOpensAll) {
  for (const Pt2Kind kind : {Pt2Kind::PlainZip, Pt2Kind::RawWeights}) {
    Pt2Content content = smallProgram();
    content.examples.clear();
    const TemporaryFolder folder;
    const auto path = folder.write("net.pt2", pt2Bytes(kind, content));
    ASSERT_TRUE(importModel(path).ok());
    EXPECT_EQ(readExportedProgram(path).value().examplesMissing, "the file contains no example inputs");
    EXPECT_FALSE(readExampleInputs(path).ok());
  }
}

/// Example inputs of a class of its author's are refused, and the network opens without them.
TEST(Pt2Containers, RefusedExamplesLeaveADecision) {
  Pt2Content content = smallProgram();
  content.examples = savedBytes(PickleWriter().global("os", "system").mark().text("true").tuple().raw("R").bytes(), {});
  const auto model = importPt2(pt2Bytes(Pt2Kind::RawWeights, content));
  ASSERT_TRUE(model.ok()) << model.error().text();
  const auto& decisions = model.value().decisions;
  const auto refused = std::ranges::find(decisions, "import.example_inputs_refused", &Decision::code);
  ASSERT_NE(refused, decisions.end());
  EXPECT_NE(message(*refused).find("net/data/sample_inputs/model.pt, archive/data.pkl"), std::string::npos)
      << message(*refused);
  EXPECT_NE(message(*refused).find("names 'os system'"), std::string::npos) << message(*refused);
}

TEST(Pt2Containers, RefusedWeightsAreAnErrorWithItsPlace) {
  const std::string evil =
      savedBytes(PickleWriter().global("posix", "system").mark().text("true").tuple().raw("R").bytes(), {});
  const Pt2Content content = smallProgram();
  const std::string plain =
      pt2ErrorOf(zipBytes({{.name = "serialized_exported_program.json", .content = content.program},
                           {.name = "serialized_state_dict.pt", .content = evil}}));
  EXPECT_NE(plain.find("serialized_state_dict.pt, archive/data.pkl"), std::string::npos) << plain;
  EXPECT_NE(plain.find("at byte 2: names 'posix system'"), std::string::npos) << plain;
  const std::string archive = pt2ErrorOf(zipBytes({{.name = "a/archive_format", .content = "pt2"},
                                                   {.name = "a/models/model.json", .content = content.program},
                                                   {.name = "a/data/weights/model.pt", .content = evil}}));
  EXPECT_NE(archive.find("a/data/weights/model.pt, archive/data.pkl"), std::string::npos) << archive;
}

TEST(Pt2Containers, OtherArchivesAreNamed) {
  struct Case {
    std::vector<ZipMember> members;
    const char *says, *helps;
  };
  const std::vector<Case> kCases{
      {{{.name = "net/code/net.py"}, {.name = "net/data.pkl"}}, "TorchScript", ".pt2 --input NAME="},
      {{{.name = "net/code/__torch__/torchvision/models/resnet.py"}, {.name = "net/data.pkl"}},
       "TorchScript",
       "import"},
      {{{.name = "archive/data.pkl"}, {.name = "archive/data/0"}}, "torch.save()", "import SCRIPT.py:FUNCTION"},
      {{{.name = "net/data/aotinductor/model/a.so"}}, "AOTInductor", "import-engine MODEL.pt2 --layers "},
      {{{.name = "x.npy"}}, "arrays", "torch.export.save"},
      {{{.name = "readme.txt"}}, "no exported program", "torch.export.save"}};
  for (const Case& each : kCases) {
    const std::string error = pt2ErrorOf(zipBytes(each.members));
    EXPECT_NE(error.find(each.says), std::string::npos) << error;
    EXPECT_NE(error.find(each.helps), std::string::npos) << error;
  }
}

TEST(Pt2Containers, OfSeveralNetworksTheUsualOneIsRead) {
  const Pt2Content content = smallProgram();
  const auto archive = [&](const char* name) {
    std::vector<ZipMember> members{{.name = "a/models/encoder.json", .content = content.program},
                                   {.name = std::string("a/models/") + name + ".json", .content = content.program}};
    members.push_back({.name = std::string("a/data/weights/") + name + ".pt",
                       .content = savedBytes(PickleWriter().stateDict(content.weights).bytes(), content.storages)});
    members.push_back({.name = std::string("a/data/constants/") + name + ".pt",
                       .content = savedBytes(PickleWriter().stateDict(content.constants).bytes(), content.storages)});
    return zipBytes(members);
  };
  EXPECT_TRUE(importPt2(archive("model")).ok());
  EXPECT_NE(pt2ErrorOf(archive("decoder")).find("several networks"), std::string::npos);
}

}  // namespace
}  // namespace fusescope::test
