#include "session/runs/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "session/session_file.h"

namespace fusescope {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The result of a comparison under a tolerance that may differ from the one with which it was made.
struct Judged {
  bool ok = false;
  double ofBound = 0;
};

/// A limit on max|Δ| / rms can be judged from the stored numbers. Limits on each element can only be judged as they
/// were measured.
std::optional<Judged> judge(const TensorComparison& comparison, const Tolerance& made, const Tolerance& tolerance) {
  if (!comparison.problem.empty()) return Judged{comparison.ok, comparison.ok ? 0 : kInfinity};
  if (made == tolerance) return Judged{comparison.ok, comparison.ofBound};
  if (!tolerance.rms || tolerance.absolute || tolerance.relative) return {};
  if (comparison.maxOverRms == 0) return Judged{comparison.maxAbs == 0, comparison.maxAbs == 0 ? 0 : kInfinity};
  const double share = *tolerance.rms > 0 ? comparison.maxOverRms / *tolerance.rms : kInfinity;
  return Judged{share <= 1, share};
}

bool finite(const TensorComparison& comparison) {
  return comparison.problem.empty() ? std::isfinite(comparison.maxAbs) : comparison.ok;
}

/// Returns the values, then the outputs, that are wrong and from which errors reach an output.
std::vector<const TensorComparison*> wrongOnes(const Evaluation& evaluation, const Tolerance& tolerance) {
  std::vector<const TensorComparison*> wrong;
  std::set<std::string> right;
  for (const auto* list : {&evaluation.values, &evaluation.outputs}) {
    for (const TensorComparison& comparison : *list) {
      const auto judged = judge(comparison, evaluation.tolerance, tolerance);
      if (!finite(comparison) || (judged && !judged->ok)) {
        wrong.push_back(&comparison);
      } else {
        right.insert(comparison.name);
      }
    }
  }
  if (evaluation.madeOf.empty()) return wrong;
  std::vector<std::string> outputs;
  for (const TensorComparison& output : evaluation.outputs) outputs.push_back(output.name);
  const std::set<std::string> leading = leadingTo(std::move(outputs), evaluation.madeOf, right);
  std::erase_if(wrong, [&](const auto* value) { return !leading.contains(value->name); });
  return wrong;
}

/// Returns the verdict about outputs that were compared with the tolerance `made`.
Verdict verdictOf(const std::vector<TensorComparison>& outputs, const Tolerance& made, const Tolerance& tolerance) {
  Verdict verdict;
  if (outputs.empty()) {
    verdict.unknownWhy = "the network has no output that can be compared";
    return verdict;
  }
  if (std::ranges::none_of(outputs, &TensorComparison::isMeaningful)) {
    verdict.unknownWhy = fmt::format("of {} {}", outputs.front().name, outputs.front().problem);
    return verdict;
  }
  verdict.kind = Verdict::Kind::Pass;
  for (const TensorComparison& output : outputs) {
    if (!output.isMeaningful()) continue;
    const auto judged = judge(output, made, tolerance);
    if (!judged) {
      return {.unknownWhy = "the tolerance was changed to one on each element, so the run must be evaluated again"};
    }
    if (!judged->ok) verdict.kind = Verdict::Kind::Fail;
    if (!verdict.output.empty() && judged->ofBound <= verdict.ofBound) continue;
    verdict.output = output.name;
    verdict.error = output.problem.empty() ? output.maxOverRms : kInfinity;
    verdict.notFinite = output.problem.empty() && !std::isfinite(output.maxAbs);
    verdict.ofBound = judged->ofBound;
    verdict.problem = output.problem;
  }
  return verdict;
}

/// Adds how many samples fail, and on which sample the worst output is.
void addSamples(const Evaluation& evaluation, const Tolerance& tolerance, Verdict& verdict) {
  double worst = -1;
  for (const auto& [name, one] : sampleVerdicts(evaluation, tolerance)) {
    ++verdict.samples;
    if (one.kind == Verdict::Kind::Fail) ++verdict.failing;
    if (one.output != verdict.output || one.ofBound <= worst) continue;
    worst = one.ofBound;
    verdict.sample = name;
  }
}

/// Returns " on 8 samples" or " on 3 of 8 samples", and nothing for a single sample.
std::string samplesInWords(const Verdict& verdict) {
  if (verdict.samples < 2) return {};
  if (verdict.kind == Verdict::Kind::Pass) return fmt::format(" on {} samples", verdict.samples);
  return fmt::format(" on {} of {} samples", verdict.failing, verdict.samples);
}

}  // namespace

std::vector<SampleVerdict> sampleVerdicts(const Evaluation& evaluation, const Tolerance& tolerance) {
  std::vector<SampleVerdict> verdicts;
  for (const SampleErrors& sample : evaluation.samples)
    verdicts.push_back({sample.name, verdictOf(sample.outputs, evaluation.tolerance, tolerance)});
  return verdicts;
}

Verdict verdictOf(const Evaluation& evaluation, const Tolerance& tolerance) {
  Verdict verdict = verdictOf(evaluation.outputs, evaluation.tolerance, tolerance);
  if (verdict.kind == Verdict::Kind::Unknown) return verdict;
  addSamples(evaluation, tolerance, verdict);
  if (verdict.kind == Verdict::Kind::Pass) return verdict;
  const std::vector<const TensorComparison*> wrong = wrongOnes(evaluation, tolerance);
  const auto notFinite = std::ranges::find_if_not(wrong, [](const auto* value) { return finite(*value); });
  const TensorComparison* first = notFinite != wrong.end() ? *notFinite : wrong.empty() ? nullptr : wrong.front();
  verdict.firstNotFinite = notFinite != wrong.end() && first->problem.empty();
  if (first != nullptr) verdict.firstWrong = first->name;
  return verdict;
}

const Evaluation* evaluationFor(const Run& run, const RunSettings& settings) {
  const Evaluation* newest = nullptr;  // on these inputs
  for (auto it = run.evaluations.rbegin(); it != run.evaluations.rend(); ++it) {
    const Evaluation& evaluation = **it;
    if (evaluation.inputs != settings.inputs) continue;
    if (verdictOf(evaluation, settings.tolerance).kind != Verdict::Kind::Unknown) return &evaluation;
    if (newest == nullptr) newest = &evaluation;
  }
  if (newest != nullptr || run.evaluations.empty()) return newest;
  return &*std::as_const(run.evaluations.back());
}

const RunErrors* errorsFor(const Run& run, const RunSettings& settings) {
  const RunErrors* newest = nullptr;  // on these inputs
  for (auto it = run.errors.rbegin(); it != run.errors.rend(); ++it) {
    const RunErrors& errors = *std::as_const(*it);
    if (errors.inputs != settings.inputs) continue;
    if (errors.against == name(settings.errorsAgainst)) return &errors;
    if (newest == nullptr) newest = &errors;
  }
  if (newest != nullptr || run.errors.empty()) return newest;
  return &*std::as_const(run.errors.back());
}

Tolerance toleranceOf(const Artifact& artifact) {
  return artifact.session != nullptr ? artifact.session->settings.tolerance : RunSettings().tolerance;
}

void setTolerance(RunSettings& settings, const Tolerance& tolerance) {
  TuneSettings& tune = settings.tune;
  const bool asTheSession = tune.metric.empty() && tune.goal.maxError && tune.goal.maxError == settings.tolerance.rms;
  settings.tolerance = tolerance;
  if (asTheSession) tune.goal.maxError = tolerance.rms;
}

Verdict verdictOf(const Run& run, const RunSettings& settings) {
  if (const Evaluation* evaluation = evaluationFor(run, settings)) return verdictOf(*evaluation, settings.tolerance);
  Verdict verdict;
  verdict.unknownWhy = run.state == RunState::Evaluating ? "it is being evaluated" : "it has not been evaluated";
  return verdict;
}

std::string inWords(const Tolerance& tolerance) {
  std::string words;
  if (tolerance.rms) words = fmt::format("max|Δ| at most {:g} of rms", *tolerance.rms);
  if (!tolerance.absolute && !tolerance.relative) return words.empty() ? "bit for bit" : words;
  const std::string each = fmt::format("|Δ| at most {:g} + {:g}·|expected| for each element",
                                       tolerance.absolute.value_or(0), tolerance.relative.value_or(0));
  return words.empty() ? each : words + ", and " + each;
}

std::string inWords(const Verdict& verdict) {
  const std::string samples = samplesInWords(verdict), place = samples.empty() ? "" : " on " + verdict.sample;
  switch (verdict.kind) {
    case Verdict::Kind::Unknown:
      return "no verdict: " + verdict.unknownWhy;
    case Verdict::Kind::Pass:
      return fmt::format("passes{}: worst is {}{}, at {:.2g} of what is allowed", samples, verdict.output, place,
                         verdict.ofBound);
    case Verdict::Kind::Fail:
      break;
  }
  std::string words = fmt::format("fails{}: {} ", samples, verdict.output);
  if (!verdict.problem.empty()) {
    words += verdict.problem;
  } else if (verdict.notFinite) {
    words += "becomes infinite or NaN";
  } else if (!std::isfinite(verdict.ofBound)) {
    words += "differs where it must be equal";
  } else {
    words += fmt::format("is {:.3g} times over what is allowed", verdict.ofBound);
  }
  words += place;
  if (verdict.firstWrong.empty() || verdict.firstWrong == verdict.output) return words;
  return words + (verdict.firstNotFinite ? "; first not finite at " : "; first out of bounds at ") + verdict.firstWrong;
}

Json toJson(const Verdict& verdict) {
  if (verdict.kind == Verdict::Kind::Unknown) return {{"verdict", "unknown"}, {"unknown_why", verdict.unknownWhy}};
  return {{"verdict", verdict.kind == Verdict::Kind::Pass ? "pass" : "fail"},
          {"output", verdict.output},
          {"max_over_rms", jsonNumber(verdict.error)},
          {"of_bound", jsonNumber(verdict.ofBound)},
          {"first_wrong", verdict.firstWrong.empty() ? Json(nullptr) : Json(verdict.firstWrong)},
          {"first_not_finite", verdict.firstNotFinite},
          {"samples", verdict.samples},
          {"failing_samples", verdict.failing},
          {"worst_sample", verdict.sample.empty() ? Json(nullptr) : Json(verdict.sample)}};
}

}  // namespace fusescope
