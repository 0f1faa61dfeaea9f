// The tables of resources/targets: every row of every one, what the loader refuses, and what adding one touches.
#include "target/target_table.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files.h"
#include "ops/op_schema.h"
#include "planning/steps.h"

namespace fusescope {
namespace {

namespace fs = std::filesystem;

/// Operators of ONNX that our registry does not hold: import writes them as others, or nothing reads them yet.
const std::set<std::string, std::less<>> kOtherNames{"Constant", "ImageDecoder", "RotaryEmbedding", "Scatter",
                                                     "Upsample"};

/// Of an operator as tables write it: NAME, or DOMAIN::NAME.
const OpSchema* schemaOf(std::string_view op) {
  const std::size_t cut = op.find("::");
  if (cut == std::string_view::npos) return OpRegistry::standard().find("", op);
  return OpRegistry::standard().find(op.substr(0, cut), op.substr(cut + 2));
}

std::string tableText(std::string_view rows) {
  std::string text = R"({"format": "fusescope.target", "version": 1, "name": "toy", "summary": "a toy",
    "backend": "native", "planning_only": true, "strongly_typed": false, "predicted_fusions": false, "bodies": "whole",
    "unlisted": "not_supported", "operators_of": "1", "sources": {"here": "this test"},
    "types": [{"type": "f32", "source": "here"}, {"type": "int32", "source": "here"}],
    "truncate": {"int64": "int32"}, "compute_types": ["f32"], "runs": ["f32"],
    "operators": [)";
  text += rows;
  return text + "]}";
}

TEST(TargetTables, AreTheFilesOfTheFolder) {
  std::set<std::string> files, embedded;
  for (const auto& entry : fs::directory_iterator(std::string(FUSESCOPE_SOURCE_DIR) + "/resources/targets"))
    if (entry.path().extension() == ".json") files.insert(entry.path().filename().string());
  for (const EmbeddedTable& table : embeddedTargetTables()) {
    embedded.insert(std::string(table.file));
    const auto text = readTextFile(std::string(FUSESCOPE_SOURCE_DIR) + "/resources/targets/" + std::string(table.file));
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text.value(), table.text) << table.file;
  }
  EXPECT_EQ(files, embedded) << "a file that core/CMakeLists.txt does not list";
}

TEST(TargetTables, EveryRowHasASourceAndAnOperatorOfOnnx) {
  std::size_t rows = 0;
  for (const EmbeddedTable& embedded : embeddedTargetTables()) {
    const auto table = parseTargetTable(embedded.text, std::string(embedded.file));
    ASSERT_TRUE(table.ok()) << table.error().text();
    EXPECT_EQ(table.value().name + ".json", embedded.file);
    for (const auto& [op, row] : table.value().operators) {
      ++rows;
      EXPECT_TRUE(table.value().sources.contains(row.source)) << op;
      const bool known = schemaOf(op) != nullptr || kOtherNames.contains(op);
      EXPECT_EQ(known, row.inOnnx) << table.value().name << ": " << op;
      EXPECT_TRUE(row.supported || row.restrictions.empty()) << op;
      EXPECT_EQ(row.kernel.empty(), table.value().unlisted != Unlisted::ReferenceOnly) << op;
    }
  }
  EXPECT_GT(rows, 600U);
}

/// The text of a table of the folder, line by line: one operator a line, so that changes can be read.
TEST(TargetTables, OneOperatorALine) {
  for (const EmbeddedTable& embedded : embeddedTargetTables()) {
    std::size_t lines = 0;
    for (std::size_t at = embedded.text.find("\n    {\"op\": "); at != std::string_view::npos;
         at = embedded.text.find("\n    {\"op\": ", at + 1))
      ++lines;
    EXPECT_EQ(lines, parseTargetTable(embedded.text, "").value().operators.size()) << embedded.file;
  }
}

TEST(TargetTables, ErrorsNameFileOperatorAndKey) {
  struct Wrong {
    const char* row;
    const char* attribute;
    const char* says;
  };
  for (const Wrong& wrong : {
           Wrong{R"({"op": "Abs"})", "source", "missing"},
           Wrong{R"({"op": "Abs", "source": "there"})", "source", "not among the sources"},
           Wrong{R"({"op": "Abs", "types": ["f17"], "source": "here"})", "types", "not an element type"},
           Wrong{R"({"op": "Abs", "types": ["bool"], "source": "here"})", "types", "has no bool"},
           Wrong{R"({"op": "Abs", "apart_from_cast": {"input": 0}, "source": "here"})", "source", "missing"},
           Wrong{R"({"op": "Abs", "apart_from_cast": {"source": "here"}, "source": "here"})", "apart_from_cast",
                 "must name an input"},
           Wrong{R"({"op": "Abs", "restrictions": [{"function": "guess"}], "source": "here"})", "function", "guess"},
           Wrong{R"({"op": "Abs", "restrictions": [{"input": 0, "name": "X"}], "source": "here"})", "restrictions",
                 "no rule"},
           Wrong{R"({"op": "Abs", "restrictions": [{"attribute": "a", "rank": [1]}], "source": "here"})",
                 "restrictions", "no rule"},
       }) {
    const auto table = parseTargetTable(tableText(wrong.row), "toy.json");
    ASSERT_FALSE(table.ok()) << wrong.row;
    EXPECT_EQ(table.error().where.file, "toy.json");
    EXPECT_EQ(table.error().where.node, "Abs");
    EXPECT_EQ(table.error().where.attribute, wrong.attribute) << wrong.row;
    EXPECT_NE(table.error().message.find(wrong.says), std::string::npos) << table.error().text();
  }
  for (const char* wrong : {R"({"input": 0, "name": "X", "constant": true, "on": ["sm89"]})",
                            R"({"input": 0, "name": "X", "constant": true, "of_types": ["f17"]})"})
    EXPECT_FALSE(
        parseTargetTable(tableText(std::string(R"({"op": "Abs", "source": "here", "restrictions": [)") + wrong + "]}"),
                         "toy.json")
            .ok())
        << wrong;
  EXPECT_FALSE(
      parseTargetTable(tableText(R"({"op": "Abs", "source": "here"}, {"op": "Abs", "source": "here"})"), "").ok());
  EXPECT_EQ(parseTargetTable("{", "toy.json").error().where.file, "toy.json");
  EXPECT_EQ(parseTargetTable("{}", "toy.json").error().where.attribute, "format");
}

TEST(TargetTables, AddingATargetTakesItsTableAlone) {
  const auto table = parseTargetTable(tableText(R"(
      {"op": "Relu", "types": ["f32"], "source": "here"},
      {"op": "Add", "types": ["f32", "int32"], "source": "here"})"),
                                      "toy.json");
  ASSERT_TRUE(table.ok()) << table.error().text();
  const Target target = Target::fromTable(std::make_shared<const TargetTable>(table.value()));
  EXPECT_TRUE(target.lacksInt64);
  const auto graph = parseGraph(R"(graph "g" {
    input %x: f32[4]
    input %i: int64[4]
    %r: f32[4] = Relu(%x) {name="r"}
    %e: f32[4] = Exp(%r) {name="e"}
    %s: int64[4] = Add(%i, %i) {name="s"}
    output %e
    output %s
  })")
                         .value();
  DirectiveMap directives;
  directives.fallback.assign(graph->nodeIdLimit(), -1);
  const Truncation truncation = planTruncation(*graph, target, TruncateModes::both(TruncateMode::Long));
  const std::vector<NodeVerdict> verdicts = validateNodes(*graph, target, directives, truncation);
  ASSERT_EQ(verdicts.size(), 3U);
  EXPECT_EQ(verdicts[0].why.code, "validate.supported");
  EXPECT_EQ(verdicts[1].why.code, "validate.operator_not_supported");
  EXPECT_EQ(verdicts[2].why.code, "validate.supported") << "narrowed first";
  const Partitioning partition = partitionGraph(*graph, target, verdicts, 0, directives, {});
  EXPECT_EQ(partition.segments.size(), 2U);
}

/// A table of two machines: f16 is there on "new" alone, and on "old" an Add takes int32 alone.
std::string machinesText(const std::string& otherwise = "new") {
  std::string text = tableText(
      R"({"op": "Add", "restrictions": [{"input": 0, "name": "A", "types": ["int32"], "on": ["old"]},
          {"input": 1, "name": "B", "constant": true, "of_types": ["int32"]}], "source": "here"})");
  text.replace(text.find(R"("types": [)"), std::string(R"("types": [)").size(),
               R"("capabilities": ["old", "new"], "default_capability": ")" + otherwise +
                   R"(", "types": [{"type": "f16", "needs": ["new"], "source": "here"}, )");
  return text;
}

TEST(TargetTables, CapabilitiesMayBeMachines) {
  const auto table = parseTargetTable(machinesText(), "toy.json");
  ASSERT_TRUE(table.ok()) << table.error().text();
  const auto shared = std::make_shared<const TargetTable>(table.value());
  const auto code = [&](const char* machine, const std::string& type, const char* second) {
    const auto graph = parseGraph("graph \"g\" {\ninput %x: " + type + "\n" + second + " %y: " + type +
                                  (std::string(second) == "const" ? " = [1]" : "") + "\n%z: " + type +
                                  " = Add(%x, %y) {name=\"n\"}\noutput %z\n}")
                           .value();
    DirectiveMap directives;
    directives.fallback.assign(graph->nodeIdLimit(), -1);
    const Target target = Target::fromTable(shared, machine == nullptr ? Capabilities() : Capabilities{machine});
    return validateNodes(*graph, target, directives,
                         planTruncation(*graph, target, TruncateModes::both(TruncateMode::None)))
        .at(0)
        .why.code;
  };
  EXPECT_EQ(code(nullptr, "f16[1]", "input"), "validate.supported") << "the one that it is for where none is named";
  EXPECT_EQ(code("new", "f16[1]", "input"), "validate.supported");
  EXPECT_EQ(code("old", "f16[1]", "input"), "validate.type_not_supported");
  EXPECT_EQ(code("new", "f32[1]", "input"), "validate.supported");
  EXPECT_EQ(code("old", "f32[1]", "input"), "validate.operand_not_supported") << "a restriction on one machine";
  EXPECT_EQ(code("new", "int32[1]", "input"), "validate.operand_not_constant") << "a restriction on one type";
  EXPECT_EQ(code("old", "int32[1]", "const"), "validate.supported");
  EXPECT_EQ(parseTargetTable(machinesText("newest"), "toy.json").error().where.attribute, "default_capability");
}

TEST(TargetTables, NoSourceNamesATargetThatATableCouldDescribe) {
  for (const char* folder : {"/core/target", "/core/planning", "/core/engine", "/core/backends"}) {
    for (const auto& entry : fs::recursive_directory_iterator(std::string(FUSESCOPE_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = readTextFile(entry.path().string()).value();
      for (const char* name : {"\"tensorrt-8\"", "\"tensorrt-10\"", "\"tensorrt-11\"", "\"tensorrt-rtx\""})
        EXPECT_EQ(text.find(name), std::string::npos) << entry.path() << " names " << name;
    }
  }
}

}  // namespace
}  // namespace fusescope
