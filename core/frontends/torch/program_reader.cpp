#include "frontends/torch/program_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "base/untrusted_json.h"
#include "frontends/input_spec_metadata.h"
#include "frontends/torch/element_types.h"
#include "frontends/torch/program_arguments.h"
#include "frontends/torch/program_graph.h"
#include "frontends/torch/schema_fields.h"

namespace fusescope::torch {
namespace {

constexpr std::int64_t kOldestSchema = 7, kNewestSchema = 8;

/// Puts NaN, Infinity and -Infinity, which Python writes and JSON does not have, in quotes.
std::string withQuotedNumbers(std::string_view json) {
  constexpr std::array<std::string_view, 3> kNumbers{"NaN", "-Infinity", "Infinity"};
  std::string strict;
  bool inText = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto number =
        std::ranges::find_if(kNumbers, [&](std::string_view n) { return json.substr(i).starts_with(n); });
    if (!inText && number != kNumbers.end()) {
      strict += '"' + std::string(*number) + '"';
      i += number->size() - 1;
      continue;
    }
    if (inText && json[i] == '\\' && i + 1 < json.size())
      strict += json[i++];
    else if (json[i] == '"')
      inText = !inText;
    strict += json[i];
  }
  return strict;
}

Result<std::string> nameIn(const Json& object, const char* key) {
  return textField(*TRY(field(object, key)), "name");
}

/// Reads {"parameter": {"arg": {"name": "p"}, "parameter_name": "weight"}} and similar objects.
Result<ProgramInput> inputOf(const Json& json) {
  using Kind = ProgramInput::Kind;
  const UnionValue given = TRY(unionOf(json));
  const Json& said = *given.value;
  if (given.kind == "user_input") {
    const Json& argument = *TRY(field(said, "arg"));
    const std::vector<std::string> values = TRY(valuesOf(argument));
    if (values.size() == 1 && !values.front().empty()) return ProgramInput{.kind = Kind::User, .value = values.front()};
    return ProgramInput{.kind = Kind::Constant, .value = {}, .target = {}, .constant = argument};
  }
  const auto held = [&](Kind kind, const char* target) -> Result<ProgramInput> {
    ProgramInput input{.kind = kind, .value = {}};
    input.value = TRY(nameIn(said, "arg"));
    input.target = TRY(textField(said, target));
    return input;
  };
  if (given.kind == "parameter") return held(Kind::Parameter, "parameter_name");
  if (given.kind == "tensor_constant") return held(Kind::TensorConstant, "tensor_constant_name");
  if (given.kind == "buffer") {
    ProgramInput buffer = TRY(held(Kind::Buffer, "buffer_name"));
    buffer.persistent = said.value("persistent", Json(true)) != Json(false);
    return buffer;
  }
  if (given.kind == "constant_input")
    return ProgramInput{.kind = Kind::Constant,
                        .value = TRY(textField(said, "name")),
                        .target = {},
                        .constant = said.value("value", Json())};
  return ProgramInput{.kind = Kind::Other,
                      .value = said.is_object() && said.contains("arg") ? TRY(nameIn(said, "arg")) : ""};
}

Result<ProgramOutput> outputOf(const Json& json) {
  const UnionValue given = TRY(unionOf(json));
  ProgramOutput output{.kind = given.kind};
  const Json& argument = *TRY(field(*given.value, "arg"));
  if (argument.is_object() && argument.contains("name")) {
    output.value = TRY(textField(argument, "name"));
  } else {
    const std::vector<std::string> values = TRY(valuesOf(argument));
    if (values.size() == 1) output.value = values.front();
  }
  for (const char* key : {"buffer_name", "parameter_name", "user_input_name"})
    if (output.target.empty()) output.target = textOr(*given.value, key, {});
  return output;
}

std::vector<std::string> textsOf(const Json& object, const char* key) {
  std::vector<std::string> texts;
  if (!object.is_object() || !object.contains(key) || !object.at(key).is_array()) return texts;
  for (const Json& text : object.at(key))
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

Status readSignature(const Json& module, ExportedProgram& program) {
  const Json& signature = *TRY(objectField(module, "signature"));
  const auto read = [&]() -> Status {
    program.inputs = TRY(eachOf<ProgramInput>(*TRY(listField(signature, "input_specs")), "input_specs", inputOf));
    program.outputs = TRY(eachOf<ProgramOutput>(*TRY(listField(signature, "output_specs")), "output_specs", outputOf));
    return Done{};
  };
  const Status status = read();
  return status.ok() ? status : within(status.error(), "graph_module.signature");
}

/// Reads the names of the author's arguments and the paths of all modules. Either may be missing.
void readModules(const Json& module, ExportedProgram& program) {
  const auto calls = module.find("module_call_graph");
  if (calls == module.end() || !calls->is_array()) return;
  for (const Json& call : *calls) {
    const std::string path = textOr(call, "fqn", {});
    if (!path.empty()) program.modules.push_back(path);
    if (!path.empty() || !call.is_object() || !call.contains("signature")) continue;
    const Json& signature = call.at("signature");
    program.argumentNames = textsOf(signature, "forward_arg_names");
    const std::string tree = textOr(signature, "in_spec", {});
    if (isShallow(tree)) program.inputTree = Json::parse(tree, nullptr, false);
    if (program.inputTree.is_discarded()) program.inputTree = Json();
  }
}

/// Reads the custom metadata, in which tools store what PyTorch does not know: a text of JSON, which PyTorch preserves
/// when it loads the program and saves it again.
void readCustom(const Json& module, ExportedProgram& program) {
  const auto metadata = module.find("metadata");
  if (metadata == module.end()) return;
  const std::string text = textOr(*metadata, "custom", {});
  if (!isShallow(text)) return;
  const Json custom = Json::parse(text, nullptr, false);
  if (custom.is_object() && custom.contains(kInputSpecsKey)) program.inputSpecs = custom.at(kInputSpecsKey).dump();
}

void readRanges(const Json& json, ExportedProgram& program) {
  const auto ranges = json.find("range_constraints");
  if (ranges == json.end() || !ranges->is_object()) return;
  for (const auto& [symbol, range] : ranges->items())
    program.ranges[symbol] = {.least = integerAt(range, "min_val"), .most = integerAt(range, "max_val")};
}

Status readVersions(const Json& json, ExportedProgram& program) {
  const Json& version = *TRY(objectField(json, "schema_version"));
  const auto major = integerAt(version, "major"), minor = integerAt(version, "minor");
  if (!major || !minor)
    return Diagnostic{.message = "contains no version numbers", .where = {.attribute = "schema_version"}};
  program.schemaMajor = *major;
  program.schemaMinor = *minor;
  program.torchVersion = textOr(json, "torch_version", {});
  if (*major < kOldestSchema || *major > kNewestSchema)
    return Diagnostic{.message = fmt::format("is {}.{}, but this Fusescope reads schemas {} to {}", *major, *minor,
                                             kOldestSchema, kNewestSchema),
                      .where = {.attribute = "schema_version"},
                      .help = "Write the file again with torch.export.save() of PyTorch 2.5 or newer."};
  if (const auto opsets = json.find("opset_version"); opsets != json.end() && opsets->is_object())
    for (const auto& [domain, number] : opsets->items())
      if (const auto opset = integerAt(*opsets, domain.c_str())) program.opsets[domain] = *opset;
  program.verifiers = textsOf(json, "verifiers");
  program.guards = textsOf(json, "guards_code");
  return Done{};
}

}  // namespace

Result<Json> programJsonOf(std::string_view text) {
  if (!isShallow(text)) return Diagnostic{.message = "has lists and objects that are nested too deeply"};
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_discarded()) return json;
  try {
    return Json::parse(withQuotedNumbers(text));
  } catch (const Json::exception& error) {
    return Diagnostic{.message = fmt::format("is not JSON: {}", error.what())};
  }
}

Result<ExportedProgram> parseExportedProgram(std::string_view text, std::int64_t mostNodes) {
  const Json json = TRY(programJsonOf(text));
  ExportedProgram program;
  TRY(readVersions(json, program));
  const Json& module = *TRY(objectField(json, "graph_module"));
  auto graph = programGraphOf(*TRY(objectField(module, "graph")), mostNodes);
  if (!graph.ok()) return within(within(std::move(graph).error(), "graph"), "graph_module");
  program.graph = std::move(graph).value();
  TRY(readSignature(module, program));
  readModules(module, program);
  readCustom(module, program);
  readRanges(json, program);
  return program;
}

}  // namespace fusescope::torch
