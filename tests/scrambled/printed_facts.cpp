#include "tests/scrambled/printed_facts.h"

#include <algorithm>

#include "calibration/ranges.h"
#include "diff/diff_plans.h"
#include "engine/engine.h"
#include "interchange/exports.h"
#include "ir/graph.h"
#include "planning/directives/directive_form.h"
#include "planning/plan_json.h"
#include "planning/prices/price_model.h"
#include "session/artifact.h"
#include "session/explain.h"
#include "session/open_model.h"
#include "tests/support/paths.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kMostNodes = 10;  ///< that it is asked of what would help them

/// Kernels of integers and of narrow floats take less, and so do products on their own.
class Prices : public PriceModel {
 public:
  std::vector<Price> kernels(const Plan& plan) const override {
    std::vector<Price> prices;
    for (const FusedNode& fused : plan.fusedNodes) {
      const double size = static_cast<double>(fused.nodes.size());
      prices.push_back(known(size * size * static_cast<double>(bitWidth(fused.compute)) / 8 + fused.root.index % 5));
    }
    return prices;
  }
  Price conversion(DataType, DataType, std::int64_t) const override { return known(0.25); }

 private:
  static Price known(double ms) { return {.ms = ms, .how = PriceSource::Measured}; }
};

const Prices kPrices;

/// Every float value holds numbers between -1 and 2.
std::shared_ptr<const Ranges> rangesOf(const Model& model) {
  auto ranges = std::make_shared<Ranges>();
  for (const ValueId value : model.graph->allValues())
    if (model.graph->value(value).type.dtype == DataType::F32 && !model.graph->isConstant(value))
      ranges->edges[model.graph->value(value).name] = {{-1, 2}};
  return ranges;
}

/// Names of nodes from the first to the last, at most `count` of them.
std::vector<std::string> someNodes(const Graph& graph, std::size_t count) {
  std::vector<std::string> names;
  const std::size_t nodes = graph.order().size();
  for (std::size_t i = 0; i < std::min(count, nodes); ++i)
    names.push_back(graph.node(graph.order()[i * nodes / std::min(count, nodes)]).name);
  return names;
}

Directives directivesFor(const Model& model) {
  Directives all;
  const auto pin = [&](const std::string& name, DataType type, Strictness strictness, DirectiveKind kind) {
    all.push_back({.kind = kind, .pattern = name, .type = type, .strictness = strictness});
  };
  std::size_t i = 0;
  for (const std::string& name : someNodes(*model.graph, 6)) {
    const auto strictness = i % 2 == 0 ? Strictness::Obey : Strictness::Prefer;
    pin(name, i % 3 == 2 ? DataType::BF16 : DataType::F32, strictness, DirectiveKind::Pin);
    if (i == 3) pin(name, DataType::F16, Strictness::Prefer, DirectiveKind::PinOutput);
    if (i == 4) pin(name, DataType::BF16, Strictness::Obey, DirectiveKind::PinOutput);
    if (i == 5) all.push_back(splitDirective(name));
    ++i;
  }
  for (const ModelBody& body : model.bodies)
    for (const std::string& name : someNodes(*body.model->graph, 2))
      pin(model.graph->node(body.holder).name + "/" + body.attribute + "/" + name, DataType::F32, Strictness::Obey,
          i++ % 2 == 0 ? DirectiveKind::Pin : DirectiveKind::PinOutput);
  if (model.graph->nodeCount() > 3) all.push_back(fallbackDirective(someNodes(*model.graph, 3)[1]));
  assignIds(all);
  return all;
}

PlanOptions optionsOf(const Model& model, const std::string& how) {
  PlanOptions options{.target = "cpu:avx2"};
  if (how == "cpu") return options;
  options.directives = directivesFor(model);
  options.precisions = {DataType::F16};
  if (how == "typed") options.target = "tensorrt-11";
  if (how == "tensorrt") options.target = "tensorrt-8";
  if (how == "priced") {
    options.precisions = {DataType::I8, DataType::F32, DataType::F16};
    options.ranges = rangesOf(model);
  }
  return options;
}

/// Without what explains: of a decision its kind, what it is about and who made it stay.
Json withoutTexts(Json json) {
  if (json.is_object()) {
    if (json.contains("message")) json.erase("code");
    for (const char* text : {"message", "arguments", "evidence", "help", "reasons"}) json.erase(text);
    json.erase("digest");  // of parts of which some have a message
  }
  if (json.is_structured())
    for (Json& entry : json) entry = withoutTexts(std::move(entry));
  return json;
}

/// Changes of decisions without the words of their sides.
Json diffFacts(const DiffInput& a, const DiffInput& b) {
  const auto diff = diffPlans(a, b, &kPrices);
  return diff.ok() ? withoutTexts(toJson(diff.value())) : Json("no diff");
}

Json helpFacts(const Plan& plan) {
  Json help = Json::array();
  for (const std::string& name : someNodes(plan.graph(), kMostNodes))
    for (const WhatIf& what : wouldHelp(plan, *plan.graph().findNode(name)))
      help.push_back({name, what.change, what.effect});
  return help;
}

/// What the window's menus and `explain` know of nodes.
Json nodeFacts(const Plan& plan) {
  Json nodes = Json::array();
  const auto& noFuse = formOf(DirectiveKind::NoFuse).menu;
  for (const std::string& name : someNodes(plan.graph(), kMostNodes)) {
    const auto explained = explainJson(plan, name);
    Json answers = Json::array();
    for (const Json& answer : explained.ok() ? explained.value().at("answers") : Json::array())
      answers.push_back({answer.at("by"), answer.at("answer")});
    nodes.push_back({name, noFuse.rule(plan, *plan.graph().findNode(name)), std::move(answers)});
  }
  return nodes;
}

Json exportFacts(const Plan& plan) {
  Json exports = Json::array();
  const TemporaryFolder folder;
  for (const Exporter* each : exporters()) {
    const Exporter& exporter = *each;
    ExportOptions options;
    if (exporter.option("trt-version") != nullptr) options.own["trt-version"] = "10.3";
    if (!exporter.isText) options.path = folder / "network.onnx";
    const auto exported = exporter.write(plan, options);
    Json entry = {{"name", exporter.name}, {"ok", exported.ok()}};
    if (exported.ok()) {
      const Exported& file = exported.value();
      std::string lines;
      for (std::size_t at = 0, end = 0; at < file.text.size(); at = end + 1) {
        end = std::min(file.text.find('\n', at), file.text.size());
        if (file.text[at] != '#') lines += file.text.substr(at, end - at) + "\n";
      }
      entry["text"] = lines;
      entry["holds"] = !file.failedCheck;
      for (const ExportNote& note : file.notes) entry["notes"].push_back(note.obey);
    }
    exports.push_back(std::move(entry));
  }
  return exports;
}

/// An engine that was built, written and opened again.
Json engineFacts(const std::shared_ptr<const Plan>& plan) {
  const auto engine = buildEngine(plan, {.threads = 1, .measureTactics = false});
  if (!engine.ok()) return "not built";
  const TemporaryFolder folder;
  if (!engine.value()->save(folder / "network.fse").ok()) return "not saved";
  const auto file = openEngineFile(folder / "network.fse");
  if (!file.ok()) return "not opened";
  Json facts = {{"plan", withoutTexts(toJson(*file.value().plan))}};
  for (const TacticChoice& choice : file.value().tactics) facts["tactics"].push_back({choice.fusedNode, choice.chosen});
  return facts;
}

void addTextModels(const std::filesystem::path& folder, std::vector<FactsCase>& cases) {
  for (const char* name : {"if64", "loopcap", "qdq", "attn_casts", "trunc", "convs", "idx"})
    for (const char* how : {"pins", "typed", "tensorrt", "priced"})
      cases.push_back({folder / (std::string(name) + ".onnx"), how});
}

}  // namespace

std::vector<FactsCase> factsCases() {
  std::vector<FactsCase> cases;
  for (const char* sample :
       {"digits", "long_double", "moe_dense", "fp16_overflow", "tiny_resnet_dynbatch", "bert_tiny"})
    for (const char* how : {"cpu", "pins", "typed", "tensorrt", "priced"})
      cases.push_back({sampleFolder(sample) / "model.onnx", how});
  if (const auto shared = sharedFolder()) addTextModels(*shared / "cases", cases);
  return cases;
}

Result<std::shared_ptr<const Plan>> planOf(const FactsCase& asked) {
  const auto model = TRY(openModel(asked.model));
  return makePlan(model, optionsOf(*model, asked.how), asked.how == "priced" ? &kPrices : nullptr);
}

Json factsOf(const FactsCase& asked) {
  const auto planned = planOf(asked);
  if (!planned.ok()) return {{"error", planned.error().text()}};
  const std::shared_ptr<const Plan>& plan = planned.value();
  const Json document = toJson(*plan);
  Json facts = {
      {"plan", withoutTexts(document)}, {"verified", verifyPlan(*plan).ok()}, {"refusals", obeyRefusals(*plan).size()},
      {"help", helpFacts(*plan)},       {"nodes", nodeFacts(*plan)},          {"exports", exportFacts(*plan)}};
  const std::shared_ptr<const Model> model = unquantized(plan->model);
  const auto read = planFromJson(document, model);
  facts["read"] = read.ok() ? withoutTexts(toJson(*read.value())) : Json("not read");
  if (const auto usual = makePlan(model, {.target = plan->options.target}); usual.ok())
    facts["diff"] = diffFacts({.cover = usual.value().get(), .label = "a"}, {.cover = plan.get(), .label = "b"});
  if (!plan->target.planningOnly) facts["engine"] = engineFacts(plan);
  return facts;
}

}  // namespace fusescope::test
