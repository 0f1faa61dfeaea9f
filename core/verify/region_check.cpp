#include "verify/region_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "backends/reference/reference_backend.h"
#include "backends/reference/reference_nodes.h"
#include "base/number_range.h"
#include "engine/contract_numerics.h"
#include "engine/tensor_kernel.h"
#include "planning/structure.h"
#include "verify/inner_products.h"

namespace fusescope {
namespace {

constexpr double kUlps = 2;
constexpr double kOfSum = 1e-5;  ///< what a sum in float32 may be off by, of rms; and what is divided by one, of itself

/// How far an output of a region may be from what is expected.
class OutputBound {
 public:
  /// `steps`: of codes that the region quantises to. `innerStep`: of codes inside, in units of the output.
  OutputBound(const Tensor& expected, double steps, double narrowedUnit, double innerStep)
      : m_type(expected.type()),
        m_units(expected.type()),
        m_range(rangeOf(expected.type())),
        m_rms(rmsOf(expected)),
        m_ofRms((kOfSum + narrowedUnit) * m_rms + innerStep),
        m_steps(steps),
        m_innerStep(innerStep) {}

  /// `ofInner`: what sums inside may be off by.
  bool holds(double actual, double expected, double ofInner = 0) const {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
    if (std::isnan(actual) || std::isnan(expected)) return false;
    if (!isFloat(m_type)) return std::fabs(actual - expected) <= m_steps;
    // Next to the end of the range a rounding more or less makes an infinity.
    const double a = clamped(actual), e = clamped(expected);
    // A step of codes inside may lead from zero to a number, whose own rounding counts.
    const double roundedAt = m_innerStep > 0 ? std::max(std::fabs(a), std::fabs(e)) : e;
    const double allowed = m_ofRms + kOfSum * std::fabs(e) + ofInner;
    return std::fabs(a - e) <= allowed || m_units.of(std::fabs(a - e) - allowed, roundedAt) <= kUlps;
  }
  /// max|Δ| over rms, where both are finite.
  double overRms(double actual, double expected) const {
    if (!std::isfinite(actual) || !std::isfinite(expected) || actual == expected) return 0;
    return m_rms > 0 ? std::fabs(actual - expected) / m_rms : INFINITY;
  }

 private:
  double clamped(double value) const { return m_range ? std::clamp(value, m_range->least, m_range->most) : value; }

  DataType m_type;
  UnitsInLastPlace m_units;
  std::optional<NumberRange> m_range;
  double m_rms = 0, m_ofRms = 0, m_steps = 0, m_innerStep = 0;
};

/// Whether `id` is a quantiser.
bool quantises(const KernelRequest& request, NodeId id) {
  return id.valid() && request.plan->graph().node(id).op.find("QuantizeLinear") != std::string::npos;
}

/// The quantiser of the region that the codes of `value` come from, which nodes behind it only move; invalid: none.
NodeId quantiserOf(const KernelRequest& request, ValueId value) {
  const Graph& graph = request.plan->graph();
  const std::vector<NodeId>& nodes = request.fused->nodes;
  for (;;) {
    const NodeId producer = graph.value(value).producer;
    if (!producer.valid() || std::ranges::find(nodes, producer) == nodes.end()) return {};
    if (quantises(request, producer)) return producer;
    const Node& node = graph.node(producer);
    if (isFloat(graph.value(value).type.dtype) || node.inputs.empty()) return {};
    value = node.input(0);
  }
}

/// The scales of quantiser `id`, the least and the greatest; nothing where they are no constants.
std::optional<std::pair<double, double>> scalesOf(const KernelRequest& request, NodeId id) {
  const Node& node = request.plan->graph().node(id);
  const auto found = node.is("QuantizeLinear") ? request.constants.find(node.input(1)) : request.constants.end();
  if (found == request.constants.end() || found->second.count() == 0) return std::nullopt;
  std::pair<double, double> range{INFINITY, 0};
  for (std::int64_t i = 0; i < found->second.count(); ++i) {
    const double scale = std::fabs(found->second.asDouble(i));
    range = {std::min(range.first, scale), std::max(range.second, scale)};
  }
  return range;
}

/// A step of the coarsest quantiser inside the region, whose codes nobody else sees; 0: there is none.
double innerStep(const KernelRequest& request) {
  double step = 0;
  for (const NodeId id : request.fused->nodes) {
    const ValueId made = request.plan->graph().node(id).outputs.front();
    const bool leaves =
        std::ranges::any_of(request.fused->outputs, [&](const FusedOutput& output) { return output.value == made; });
    if (leaves || !quantises(request, id)) continue;
    if (const auto scales = scalesOf(request, id)) step = std::max(step, scales->second);
  }
  return step;
}

/// What a region may be off by in `output`: a step of what it quantises to, and one of what it quantises inside.
OutputBound boundOf(const KernelRequest& request, ValueId output, const Tensor& expected, double narrowedUnit) {
  const NodeId quantiser = quantiserOf(request, output);
  const double inner = innerStep(request);
  if (!quantiser.valid()) return {expected, 0, narrowedUnit, inner};
  const auto scales = scalesOf(request, quantiser);
  const double more = inner > 0 && scales && scales->first > 0 ? std::ceil(inner / scales->first) : 0;
  return {expected, 1 + more, narrowedUnit, 0};
}

/// The largest unit, as of 1, of the types that the contract of `fused` narrows inner edges to; 0: it narrows none.
double narrowedUnit(const FusedNode& fused) {
  double unit = 0;
  for (const InnerEdge& edge : fused.innerEdges)
    if (!edge.real && isFloat(edge.type) && bitWidth(edge.type) < bitWidth(DataType::F32))
      unit = std::max(unit, 1 / UnitsInLastPlace(edge.type).of(1, 1));
  return unit;
}

/// `fused` as if its contract narrowed no inner edge.
FusedNode withoutRounding(FusedNode fused) {
  for (InnerEdge& edge : fused.innerEdges)
    if (!edge.real && isExchangeable(edge.type)) edge.type = DataType::F32;
  return fused;
}

/// Whether a kernel carries out the roundings inside its contract. What is next to a tie may be rounded to either side,
/// so that single elements tell nothing; but together they are nearer to what is expected than to what there would be
/// without the roundings.
class RoundingWitness {
 public:
  void add(const Tensor& actual, const Tensor& expected, const Tensor& unrounded) {
    const double rms = rmsOf(expected);
    if (!(rms > 0) || !std::isfinite(rms) || !isFloat(expected.type())) return;
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      const double a = actual.asDouble(i), e = expected.asDouble(i), u = unrounded.asDouble(i);
      const bool finite = std::isfinite(a) && std::isfinite(e) && std::isfinite(u);
      if (!finite || std::fabs(e - u) <= kOfSum * (rms + std::fabs(e))) continue;
      ++m_telling;
      m_toExpected += (a - e) * (a - e) / (rms * rms);
      m_toUnrounded += (a - u) * (a - u) / (rms * rms);
    }
  }
  bool leavesRoundingOut() const { return m_telling >= kFewest && m_toUnrounded < m_toExpected; }

 private:
  static constexpr std::size_t kFewest = 48;
  std::size_t m_telling = 0;  ///< elements that the roundings change
  double m_toExpected = 0, m_toUnrounded = 0;
};

class RegionChecker {
 public:
  RegionChecker(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                KernelStore& store, const StopToken& stop)
      : m_backend(backend), m_request(request), m_cases(cases), m_store(store), m_stop(stop) {}

  Result<RegionCheck> run() {
    TRY(runReference());
    for (const Tactic& tactic : m_backend.tactics(m_request)) {
      TRY(checkStop(m_stop));
      if (tactic.backend == kReferenceBackend) continue;
      m_check.tactics.push_back({.name = tactic.name});
      TRY(checkTactic(tactic, m_check.tactics.back()));
    }
    return std::move(m_check);
  }

 private:
  Status runReference() {
    m_expected = TRY(resultsOf(m_request));
    if (narrowedUnit(*m_request.fused) == 0) return Done{};
    const FusedNode fused = withoutRounding(*m_request.fused);
    KernelRequest unrounded = m_request;
    unrounded.fused = &fused;
    m_unrounded = TRY(resultsOf(unrounded));
    return Done{};
  }

  /// By case; none where its values do not allow it (a division of integers by zero), which says nothing of a kernel.
  Result<std::vector<std::vector<Tensor>>> resultsOf(const KernelRequest& request) const {
    const auto reference = TRY(ReferenceNodes::prepare(request));
    const auto constants = TRY(reference->constantsOf(request));
    std::vector<std::vector<Tensor>> results;
    for (const RegionCase& one : m_cases) {
      TRY(checkStop(m_stop));
      auto ran = reference->run(one.inputs, constants, m_stop);
      results.push_back(ran.ok() ? std::move(ran).value() : std::vector<Tensor>());
    }
    return results;
  }

  Status checkTactic(const Tactic& tactic, TacticCheck& check) {
    if (!beyondContract(*m_request.plan, *m_request.fused, tactic.numerics).exact()) {
      check.note = "not run: the contract does not allow its numbers (" + tactic.numerics.text() + ")";
      return Done{};
    }
    auto kernel = TensorKernel::prepare(m_backend, m_request, tactic, m_store);
    if (!kernel.ok()) {
      check.note = "not run: it cannot be prepared: " + kernel.error().text();
      return Done{};
    }
    RoundingWitness witness;
    std::size_t last = 0;
    for (std::size_t i = 0; i < m_cases.size(); ++i) {
      if (m_expected[i].empty()) continue;
      if (m_cases[i].denormals && tactic.numerics.flushes) {
        note(check, "takes denormals for zero: not run on them");
        continue;
      }
      const auto actual = kernel.value().run(m_cases[i].inputs);
      if (!actual.ok()) {
        fail(check, m_cases[i], {}, "it refuses: " + actual.error().text());
        continue;
      }
      compare(check, i, actual.value());
      if (!check.ok || m_unrounded.empty() || m_unrounded[i].empty() || m_cases[i].denormals) continue;
      for (std::size_t k = 0; k < m_expected[i].size(); ++k)
        witness.add(actual.value()[k], m_expected[i][k], m_unrounded[i][k]);
      last = i;
    }
    if (check.ok && witness.leavesRoundingOut())
      fail(check, m_cases[last], m_request.plan->graph().value(m_request.fused->outputs.front().value).name,
           "is nearer to what it would be if nothing were rounded inside than to what is expected");
    return Done{};
  }

  /// What sums inside the region may be off by on a case; asked for only where something is.
  double ofInnerProducts(std::size_t i) {
    const auto [known, isNew] = m_ofInner.emplace(i, 0);
    if (isNew) known->second = kOfSum * rmsOfInnerProducts(m_request, m_cases[i].inputs, m_stop);
    return known->second;
  }

  void compare(TacticCheck& check, std::size_t at, const std::vector<Tensor>& actual) {
    const RegionCase& one = m_cases[at];
    const std::vector<Tensor>& expected = m_expected[at];
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const ValueId output = m_request.fused->outputs[k].value;
      const OutputBound bound = boundOf(m_request, output, expected[k], narrowedUnit(*m_request.fused));
      const std::string& name = m_request.plan->graph().value(output).name;
      if (actual[k].dims() != expected[k].dims() || actual[k].type() != expected[k].type()) {
        fail(check, one, name, "is " + typeOf(actual[k]).text() + ", expected is " + typeOf(expected[k]).text());
        continue;
      }
      bool said = false;
      for (std::int64_t i = 0; i < expected[k].count(); ++i) {
        const double a = actual[k].asDouble(i), e = expected[k].asDouble(i);
        check.maxOverRms = std::max(check.maxOverRms, bound.overRms(a, e));
        if (said || bound.holds(a, e) || bound.holds(a, e, ofInnerProducts(at))) continue;
        said = true;
        const bool roundsDenormals =
            one.denormals && a != 0 && std::fabs(a - e) <= static_cast<double>(std::numeric_limits<float>::min());
        if (one.notFinite || roundsDenormals) {
          note(check, fmt::format("on {}: {} element {} is {:.9g} instead of {:.9g}", one.name, name, i, a, e));
        } else {
          fail(check, one, name, fmt::format("element {} is {:.9g}, expected is {:.9g}", i, a, e));
        }
      }
    }
  }

  static void note(TacticCheck& check, const std::string& text) {
    if (check.note.find(text) == std::string::npos) check.note += (check.note.empty() ? "" : "; ") + text;
  }

  void fail(TacticCheck& check, const RegionCase& one, const std::string& output, std::string what) {
    if (check.ok)
      check.note = fmt::format("on {}: {} {}{}{}", one.name, output, what, check.note.empty() ? "" : "; ", check.note);
    check.ok = false;
    const bool tellsMore = !m_check.failure || (m_check.failure->isEdge && !one.isEdge);
    if (tellsMore)
      m_check.failure = RegionFailure{check.name, one.name, output, std::move(what), one.inputs, one.isEdge};
  }

  const Backend& m_backend;
  const KernelRequest& m_request;
  std::span<const RegionCase> m_cases;
  KernelStore& m_store;
  const StopToken& m_stop;
  std::vector<std::vector<Tensor>> m_expected;   ///< by case; none: the reference refuses it
  std::vector<std::vector<Tensor>> m_unrounded;  ///< the same without what the contract rounds inside; empty: nothing
  std::map<std::size_t, double> m_ofInner;       ///< ofInnerProducts(), by case
  RegionCheck m_check;
};

}  // namespace

Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop) {
  return RegionChecker(backend, request, cases, store, stop).run();
}

}  // namespace fusescope
