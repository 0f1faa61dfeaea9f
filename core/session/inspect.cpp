#include "session/inspect.h"

#include <fmt/format.h>

#include "engine/engine.h"
#include "frontends/torch/pt2_importer.h"
#include "ops/no_kernel.h"
#include "ops/op_schema.h"
#include "session/documents/report_json.h"
#include "session/exported_program_report.h"

namespace fusescope {
namespace {

Json shapeJson(const Shape& shape) {
  if (!shape.ranked) return nullptr;
  Json dims = Json::array();
  for (const auto& dim : shape.dims) {
    if (dim.known()) {
      dims.push_back(dim.size);
    } else if (!dim.symbol.empty()) {
      dims.push_back(dim.symbol);
    } else {
      dims.push_back(nullptr);
    }
  }
  return dims;
}

Json valuesJson(const Graph& graph, const std::vector<ValueId>& values) {
  Json list = Json::array();
  for (const auto id : values) {
    const auto& value = graph.value(id);
    list.push_back({{"name", value.name}, {"type", name(value.type.dtype)}, {"dims", shapeJson(value.type.shape)}});
  }
  return list;
}

/// Counts the nodes of the file by operator, in order of the names. Domains other than those of ONNX are written before
/// the name.
Json operatorsJson(const Model& model) {
  std::map<std::string, std::int64_t> counts;
  for (const auto& origin : model.origins) {
    ++counts[operatorText(origin.domain, origin.op)];
  }
  Json json = Json::object();
  for (const auto& [op, count] : counts) json[op] = count;
  return json;
}

/// Counts the values that nodes calculate by type.
Json typesJson(const Graph& graph) {
  std::map<std::string, std::int64_t> counts;
  for (const auto id : graph.allValues()) {
    if (graph.value(id).producer.valid()) ++counts[std::string(name(graph.value(id).type.dtype))];
  }
  Json json = Json::object();
  for (const auto& [type, count] : counts) json[type] = count;
  return json;
}

/// Returns what import and inference corrected or assumed, that is, the decisions about the file that are not about the
/// fate of its nodes.
Json findingsJson(const Model& model) {
  Json findings = Json::array();
  for (const auto& decision : model.decisions) {
    const bool ofFile = decision.kind == DecisionKind::Import || decision.kind == DecisionKind::Infer ||
                        decision.kind == DecisionKind::Input;
    if (!ofFile || decision.code == "import.function_inlined") continue;
    const std::string subject = decision.subjects.empty() ? std::string() : decision.subjects.front().text();
    findings.push_back({{"code", decision.code},
                        {"subject", subject.empty() ? Json(nullptr) : Json(subject)},
                        {"message", message(decision)}});
  }
  return findings;
}

void findNodesWithoutKernel(const Graph& graph, std::vector<CannotRun>& found) {
  for (const auto id : graph.order()) {
    const auto& node = graph.node(id);
    const auto* schema = OpRegistry::standard().find(node);
    const auto op = operatorText(node.domain, node.op);
    if (schema == nullptr || !schema->kernel) {
      const auto [why, help] = whyNoKernel(node);
      found.push_back({node.name, op, schema == nullptr ? "build.unknown_operator" : "build.no_kernel",
                       help.empty() ? why : why + ". " + help});
    }
    for (const auto& [key, attribute] : node.attributes) {
      const auto* body = std::get_if<Subgraph>(&attribute);
      if (body != nullptr && body->graph) findNodesWithoutKernel(*body->graph, found);
    }
  }
}

}  // namespace

std::vector<CannotRun> cannotRun(const Model& model) {
  std::vector<CannotRun> found;
  if (model.weightless) {
    found.push_back(
        {{},
         {},
         "build.no_weights",
         "the model contains no data for its weights, so it can be looked at and planned, but not built or run"});
  }
  if (isExportedProgram(model)) {
    found.push_back({{},
                     {},
                     "build.needs_torch",
                     "the network consists of PyTorch's operators, which nothing here runs: it can be looked at and "
                     "planned. What makes it runnable: " +
                         makeRunnableCommand(model.path)});
    return found;
  }
  findNodesWithoutKernel(*model.graph, found);
  return found;
}

Json inspectJson(const Model& model) {
  Json json = {{"format", "fusescope.inspect"}, {"version", 1}, {"model", model.path}, {"producer", model.producer}};
  json["inputs"] = valuesJson(*model.graph, model.graph->inputs());
  json["outputs"] = valuesJson(*model.graph, model.graph->outputs());
  json["input_specs"] = inputSpecsJson(model.inputSpecs);
  json["nodes"] = model.fileNodes;
  json["nodes_prepared"] = model.graph->nodeCount();
  json["operators"] = operatorsJson(model);
  json["types"] = typesJson(*model.graph);
  json["opset"] = Json::object();
  for (const auto& [domain, version] : model.opset) json["opset"][domain] = version;
  json["parameters"] = model.parameters;
  json["bytes"] = model.weightBytes;
  json["weightless"] = model.weightless;
  json["findings"] = findingsJson(model);
  json["cannot_run"] = Json::array();
  for (const auto& entry : cannotRun(model)) {
    json["cannot_run"].push_back({{"node", entry.node.empty() ? Json(nullptr) : Json(entry.node)},
                                  {"operator", entry.op.empty() ? Json(nullptr) : Json(entry.op)},
                                  {"code", entry.code},
                                  {"message", entry.message}});
  }
  return json;
}

Json formatTexts(const std::vector<MemoryFormat>& formats) {
  Json texts = Json::array();
  for (const MemoryFormat& format : formats) texts.push_back(format.text());
  return texts;
}

Json inspectJson(const EngineFile& info, const std::string& path) {
  const Plan& plan = *info.plan;
  Json json = inspectJson(*plan.model);
  std::map<Hash128, const TacticChoice*> tactics;
  for (const auto& choice : info.tactics) tactics[choice.identity] = &choice;
  Json layers = Json::array();
  for (const auto& fused : plan.fusedNodes) {
    const auto found = tactics.find(fused.identity);
    const TacticChoice* choice = found == tactics.end() ? nullptr : found->second;
    Json layer = {{"name", fused.name},
                  {"identity", fused.identity.hex()},
                  {"kind", fused.kind},
                  {"origins", originsJson(plan, fused)},
                  {"compute", name(fused.compute)},
                  {"tactic", choice == nullptr ? Json(nullptr) : Json(choice->chosen)}};
    if (choice != nullptr && choice->tactic) {
      layer["formats"] = {{"inputs", formatTexts(choice->tactic->inputs)},
                          {"outputs", formatTexts(choice->tactic->outputs)}};
      layer["numerics"] = choice->tactic->numerics.text();
    }
    layers.push_back(std::move(layer));
  }
  json["engine"] = {{"path", path},
                    {"fusescope_version", info.fusescopeVersion},
                    {"backend", info.backend},
                    {"fingerprint", info.fingerprint.empty() ? Json(nullptr) : Json(info.fingerprint)},
                    {"target", plan.options.target},
                    {"bytes", info.bytes},
                    {"plan_hash", plan.hash.hex()},
                    {"source", name(plan.source)},
                    {"layers", std::move(layers)}};
  if (!info.timesWithWeightsOf.empty()) json["engine"]["times_with_weights_of"] = info.timesWithWeightsOf;
  return json;
}

}  // namespace fusescope
