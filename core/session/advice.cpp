#include "session/advice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_fields.h"
#include "ir/graph.h"
#include "planning/plan_totals.h"
#include "session/engine_prices.h"

namespace fusescope {
namespace {

/// The limit for all samples together: about what one core of a present CPU does in a second.
constexpr std::int64_t kQuickFlops = 2'000'000'000;

bool isOff(const std::optional<TensorError>& error, const Tolerance& tolerance) {
  return error && (error->nonFinite > 0 || (tolerance.rms && fractionOfBound(*error, *tolerance.rms) > 1));
}

/// Describes the result of a run; nullopt if `value` is still wrong.
std::optional<std::string> whatItGave(const LayerErrorReport& report, const std::string& value,
                                      const Tolerance& tolerance) {
  const TensorErrors *of = nullptr, *worst = nullptr;
  for (const TensorErrors& tensor : report.tensors) {
    if (tensor.name == value) of = &tensor;
    if (!tensor.isOutput || !tensor.errors.carried || !tensor.errors.carried->isMeaningful()) continue;
    if (worst == nullptr || fractionOfBound(*tensor.errors.carried, 1) > fractionOfBound(*worst->errors.carried, 1))
      worst = &tensor;
  }
  if (of != nullptr && (isOff(of->errors.local, tolerance) || isOff(of->errors.carried, tolerance))) return {};
  std::string words = value + " is right";
  if (worst == nullptr) return words;
  const TensorError& error = *worst->errors.carried;
  if (error.nonFinite > 0) return words + fmt::format("; output {} still becomes infinite or NaN", worst->name);
  return words + fmt::format("; output {} is off by {:.3g} of rms{}", worst->name, error.maxOverRms,
                             isOff(error, tolerance) ? ", more than is allowed" : "");
}

Result<Directive> advisedPinFromJson(const Json& json) {
  Directive pin;
  std::string type;
  JsonFields fields(json);
  fields.require("pattern").read("pattern", pin.pattern).read("type", type);
  pin.type = dataTypeFromName(type).value_or(DataType::F32);
  return fields.result(std::move(pin));
}

}  // namespace

bool quickToTry(const Plan& plan, const Samples& samples) {
  const std::optional<std::int64_t> flops = totalsWithoutBodies(plan).flops;
  return flops && *flops <= kQuickFlops / std::max<std::int64_t>(std::ssize(samples.list), 1);
}

Result<std::optional<Advice>> adviceAbout(const LayerErrorReport& report, const std::shared_ptr<const Plan>& plan,
                                          const Samples& samples, const LayerErrorOptions& options,
                                          ErrorsAgainst against) {
  const bool harms = report.firstWrong && report.leading.contains(report.firstWrong->tensor);
  if (!harms || plan->options.compiler != kOwnCompiler) return std::optional<Advice>();
  const auto tensor = std::ranges::find(report.tensors, report.firstWrong->tensor, &TensorErrors::name);
  const auto infinite = [](const std::optional<TensorError>& error) { return error && error->nonFinite > 0; };
  const bool notFinite = infinite(tensor->errors.local) || infinite(tensor->errors.carried);
  return std::optional(
      TRY(adviceAbout(tensor->name, notFinite ? Harm::NotFinite : Harm::Inexact, plan, samples, options, against)));
}

Result<Advice> adviceAbout(const std::string& name, Harm harm, const std::shared_ptr<const Plan>& plan,
                           const Samples& samples, const LayerErrorOptions& options, ErrorsAgainst against) {
  Advice advice{.value = name};
  const auto value = plan->graph().findValue(name);
  if (!value || plan->options.compiler != kOwnCompiler) return advice;
  const auto prices = pricesOf(*plan, options.backend);
  auto fixes = TRY(wideFixes(plan, *value, harm, prices.get(), options.stop));
  const bool tries = quickToTry(*plan, samples);
  for (WideFix& fix : fixes) {
    if (tries) {
      const auto with = TRY(layerErrors(fix.plan, samples, options, against));
      const auto gave = whatItGave(with, advice.value, options.tolerance);
      if (!gave) continue;
      advice.tried = *gave;
    }
    advice.pins = std::move(fix.pins);
    advice.effect = std::move(fix.effect);
    break;
  }
  return advice;
}

Json toJson(const std::optional<Advice>& advice) {
  if (!advice) return nullptr;
  Json json = {{"value", advice->value}, {"effect", advice->effect}, {"tried", advice->tried}, {"pins", Json::array()}};
  for (const Directive& pin : advice->pins)
    json["pins"].push_back({{"pattern", pin.pattern}, {"type", name(pin.type)}});
  return json;
}

Result<Advice> adviceFromJson(const Json& json) {
  Advice advice;
  JsonFields fields(json);
  fields.require("value").read("value", advice.value).read("effect", advice.effect).read("tried", advice.tried);
  fields.parseList("pins", advice.pins, advisedPinFromJson);
  return fields.result(std::move(advice));
}

}  // namespace fusescope
