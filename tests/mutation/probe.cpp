#include "tests/mutation/probe.h"

#include <exception>

#include "base/json.h"
#include "frontends/importers.h"
#include "passes/pipelines.h"
#include "planning/plan.h"

namespace fusescope::mutation {
namespace {

std::string refused(const char* stage, const Diagnostic& error) {
  const bool located = !error.where.file.empty() || !error.where.node.empty() || !error.where.value.empty();
  if (error.message.empty()) return std::string("BAD: ") + stage + " refuses without words";
  if (!located) return std::string("BAD: ") + stage + " refuses without a place: " + error.text();
  return std::string("refused: ") + stage + ": " + error.text();
}

std::string plannedFor(const char* target, const std::shared_ptr<const Model>& model) {
  PlanOptions options;
  options.target = target;
  const auto plan = makePlan(model, options);
  if (!plan.ok()) return refused("planning", plan.error());
  if (const auto sound = verifyPlan(*plan.value()); !sound.ok())
    return std::string("BAD: unsound plan for ") + target + ": " + sound.error().text();
  if (toJson(*plan.value()).dump().empty()) return "BAD: the plan has no JSON";
  return "planned";
}

std::string attempt(const std::filesystem::path& file) {
  auto imported = importModel(file);
  if (!imported.ok()) return refused("import", imported.error());
  auto prepared = prepareModel(std::move(imported).value());
  if (!prepared.ok()) return refused("preparation", prepared.error());
  const auto model = std::make_shared<const Model>(std::move(prepared).value());
  for (const char* target : {"cpu", "tensorrt-10"}) {
    const std::string result = plannedFor(target, model);
    if (result != "planned") return result;
  }
  return "planned";
}

}  // namespace

std::string probe(const std::filesystem::path& file) {
  try {
    return attempt(file);
  } catch (const std::exception& error) {
    return std::string("BAD: throws ") + error.what();
  }
}

}  // namespace fusescope::mutation
