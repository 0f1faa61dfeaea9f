#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

struct BadProgram {
  const char* what;  ///< in the JSON of the small program
  const char* by;
  std::vector<const char*> says;
};

TEST(BadPrograms, EachErrorNamesItsPlace) {
  const std::vector<BadProgram> kCases{
      {R"("major": 8)", R"("major": 9)", {"schema_version", "is 9.17", "schemas 7 to 8"}},
      {R"("major": 8)", R"("major": 5)", {"schema_version", "is 5.17"}},
      {R"("major": 8)", R"("major": "x")", {"schema_version"}},
      {R"("graph_module": {)", R"("graph": {)", {"graph_module", "is missing"}},
      {R"("nodes": [)", R"("knots": [)", {"graph_module.graph.nodes", "is missing"}},
      {R"("target": "torch.ops.aten.add.Tensor")",
       R"("target": 3)",
       {"graph_module.graph.nodes[1].target", "a string"}},
      {R"("inputs": [{"name": "self")", R"("inputs": [{"nam": "self")", {"nodes[1].inputs[0].name", "is missing"}},
      {R"("outputs": [{"as_tensor": {"name": "linear"}}])",
       R"("outputs": [{"as_tensor": {"name": "other"}}])",
       {"node 'add'", "tensor 'linear'", "before any node calculates it"}},
      {R"("outputs": [{"as_tensor": {"name": "add"}}],
         "metadata")",
       R"("outputs": [{"as_tensor": {"name": "linear"}}],
         "metadata")",
       {"node 'add'", "tensor 'linear'", "is calculated twice"}},
      {R"({"user_output": {"arg": {"as_tensor": {"name": "add"}}}})",
       R"({"user_output": {"arg": {"as_tensor": {"name": "sum"}}}})",
       {"tensor 'sum'", "an output of the graph"}},
      {R"("parameter_name": "fc.bias")",
       R"("parameter_name": "fc.gone")",
       {"tensor 'fc.gone'", "not among the weights"}},
      {R"("x": {"dtype": 7)", R"("x": {"dtype": 9)", {"tensor 'x'", "PyTorch type 9"}},
      {R"("x": {"dtype": 7)", R"("z": {"dtype": 7)", {"tensor 'x'", "does not describe"}},
      {R"("sizes": [{"as_expr")",
       R"("sizes": [{"as_int": 1, "as_expr")",
       {"tensor_values.x.sizes[0]", "several kinds"}},
      {R"("input_specs": [)", R"("inputs": [)", {"graph_module.signature.input_specs", "is missing"}}};
  for (const BadProgram& bad : kCases) {
    Pt2Content content = smallProgram();
    content.program = with(content.program, bad.what, bad.by);
    const std::string error = pt2ErrorOf(pt2Bytes(Pt2Kind::RawWeights, content));
    for (const char* says : bad.says) EXPECT_NE(error.find(says), std::string::npos) << says << "\n" << error;
  }
}

TEST(BadPrograms, JsonThatIsNoneOrTooDeepIsRefused) {
  const auto errorOf = [](const std::string& program) {
    Pt2Content content = smallProgram();
    content.program = program;
    return pt2ErrorOf(pt2Bytes(Pt2Kind::RawWeights, content));
  };
  EXPECT_NE(errorOf("{").find("net/models/model.json"), std::string::npos) << errorOf("{");
  EXPECT_NE(errorOf("{").find("is not JSON"), std::string::npos);
  EXPECT_NE(errorOf("[]").find("must be an object"), std::string::npos) << errorOf("[]");
  EXPECT_NE(errorOf(std::string(100'000, '[')).find("too deep"), std::string::npos);
  EXPECT_NE(errorOf("").find("is not JSON"), std::string::npos);
}

TEST(BadPrograms, MoreNodesThanAllowedAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.write("net.pt2", pt2Bytes(Pt2Kind::RawWeights, smallProgram()));
  const auto model = importModel(path, {.nodes = 1});
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().text().find("has 2 nodes; at most 1 are allowed"), std::string::npos) << model.error().text();
}

TEST(BadPrograms, WindowsBeyondTheirStorageAreRefused) {
  const std::vector<std::pair<StoredTensor, const char*>> kCases{
      {{.sizes = {3}, .strides = {1}, .offset = 10}, "reaches beyond its storage of 48 bytes"},
      {{.sizes = {4, 4}, .strides = {4, 1}}, "reaches beyond its storage"},
      {{.sizes = {2}, .strides = {std::int64_t{1} << 62}}, "reaches beyond its storage"},
      {{.sizes = {3}, .strides = {INT64_MAX}}, "reaches beyond its storage"},
      {{.sizes = {3}, .strides = {-1}, .offset = 5}, "not possible for a tensor"},
      {{.sizes = {-3}, .strides = {1}}, "not possible for a tensor"},
      {{.sizes = {3}, .strides = {1}, .offset = -1}, "not possible for a tensor"},
      {{.sizes = {3, 1}, .strides = {1}}, "not possible for a tensor"},
      {{.sizes = {std::int64_t{1} << 40, std::int64_t{1} << 40}, .strides = {0, 0}}, "too large"},
      {{.sizes = {std::int64_t{1} << 40}, .strides = {0}}, "far larger in memory"}};
  for (const auto& [window, says] : kCases)
    for (const Pt2Kind kind : {Pt2Kind::PlainZip, Pt2Kind::PickledWeights, Pt2Kind::RawWeights}) {
      Pt2Content content = smallProgram();
      content.constants[0].second = window;
      const std::string error = pt2ErrorOf(pt2Bytes(kind, content));
      EXPECT_NE(error.find(says), std::string::npos) << says << "\n" << error;
      EXPECT_NE(error.find("tensor 'tied'"), std::string::npos) << error;
    }
}

TEST(BadPrograms, AMemberThatIsMissingIsNamed) {
  Pt2Content content = smallProgram();
  content.storages.erase("1");
  EXPECT_NE(
      pt2ErrorOf(pt2Bytes(Pt2Kind::RawWeights, content)).find("'net/data/weights/weight_1': is not in the archive"),
      std::string::npos)
      << pt2ErrorOf(pt2Bytes(Pt2Kind::RawWeights, content));
  EXPECT_NE(pt2ErrorOf(pt2Bytes(Pt2Kind::PlainZip, content)).find("archive/data/1"), std::string::npos);
}

TEST(BadPrograms, TheHighestByteFirstIsRefused) {
  const Pt2Content content = smallProgram();
  const std::string saved = zipBytes({{.name = "a/data.pkl", .content = PickleWriter().stateDict({}).bytes()},
                                      {.name = "a/byteorder", .content = "big"}});
  const std::string error =
      pt2ErrorOf(zipBytes({{.name = "serialized_exported_program.json", .content = content.program},
                           {.name = "serialized_state_dict.pt", .content = saved}}));
  EXPECT_NE(error.find("big-endian machine"), std::string::npos) << error;
}

}  // namespace
}  // namespace fusescope::test
