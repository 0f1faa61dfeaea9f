#include "verify/region_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backends/reference/reference_backend.h"
#include "backends/reference/reference_nodes.h"
#include "base/number_range.h"
#include "engine/contract_numerics.h"
#include "engine/tensor_kernel.h"

namespace fusescope {
namespace {

constexpr double kUlps = 2, kOfRms = 1e-5;

double rmsOf(const Tensor& tensor) {
  double squares = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    const double value = tensor.asDouble(i);
    if (!std::isfinite(value)) continue;
    squares += value * value;
    ++count;
  }
  return count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
}

/// How far an output of a region may be from what is expected.
class OutputBound {
 public:
  OutputBound(const Tensor& expected, bool isQuantised, double narrowedUnit)
      : m_type(expected.type()),
        m_units(expected.type()),
        m_range(rangeOf(expected.type())),
        m_rms(rmsOf(expected)),
        m_ofRms((kOfRms + narrowedUnit) * m_rms),
        m_steps(isQuantised ? 1 : 0) {}

  bool holds(double actual, double expected) const {
    if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
    if (std::isnan(actual) || std::isnan(expected)) return false;
    if (!isFloat(m_type)) return std::fabs(actual - expected) <= m_steps;
    // Next to the end of the range a rounding more or less makes an infinity.
    const double a = clamped(actual), e = clamped(expected);
    return std::fabs(a - e) <= m_ofRms || m_units.of(std::fabs(a - e) - m_ofRms, e) <= kUlps;
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
  double m_rms = 0, m_ofRms = 0, m_steps = 0;
};

/// Whether `value` is made by a quantiser of the region.
bool isQuantised(const KernelRequest& request, ValueId value) {
  const Graph& graph = request.plan->graph();
  const NodeId producer = graph.value(value).producer;
  return producer.valid() && graph.node(producer).op.find("QuantizeLinear") != std::string::npos;
}

/// The largest unit, as of 1, of the types that the contract of `fused` narrows inner edges to; 0: it narrows none.
double narrowedUnit(const FusedNode& fused) {
  double unit = 0;
  for (const InnerEdge& edge : fused.innerEdges)
    if (!edge.real && isFloat(edge.type) && bitWidth(edge.type) < bitWidth(DataType::F32))
      unit = std::max(unit, 1 / UnitsInLastPlace(edge.type).of(1, 1));
  return unit;
}

class RegionChecker {
 public:
  RegionChecker(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                KernelStore& store)
      : m_backend(backend), m_request(request), m_cases(cases), m_store(store) {}

  Result<RegionCheck> run(const StopToken& stop) {
    TRY(runReference(stop));
    for (const Tactic& tactic : m_backend.tactics(m_request)) {
      TRY(checkStop(stop));
      if (tactic.backend == kReferenceBackend) continue;
      m_check.tactics.push_back({.name = tactic.name});
      TRY(checkTactic(tactic, m_check.tactics.back()));
    }
    return std::move(m_check);
  }

 private:
  Status runReference(const StopToken& stop) {
    const auto reference = TRY(ReferenceNodes::prepare(m_request));
    const auto constants = TRY(reference->constantsOf(m_request));
    for (const RegionCase& one : m_cases) {
      TRY(checkStop(stop));
      auto expected = reference->run(one.inputs, constants, stop);
      // What these values do not allow (a division of integers by zero) says nothing of a kernel.
      m_expected.push_back(expected.ok() ? std::move(expected).value() : std::vector<Tensor>());
    }
    return Done{};
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
    for (std::size_t i = 0; i < m_cases.size(); ++i) {
      if (m_expected[i].empty()) continue;
      if (m_cases[i].denormals && tactic.numerics.flushes) {
        check.note = "takes denormals for zero: not run on them";
        continue;
      }
      const auto actual = kernel.value().run(m_cases[i].inputs);
      if (!actual.ok()) {
        fail(check, m_cases[i], {}, "it refuses: " + actual.error().text());
        continue;
      }
      compare(check, m_cases[i], actual.value(), m_expected[i]);
    }
    return Done{};
  }

  void compare(TacticCheck& check, const RegionCase& one, const std::vector<Tensor>& actual,
               const std::vector<Tensor>& expected) {
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const ValueId output = m_request.fused->outputs[k].value;
      const OutputBound bound(expected[k], isQuantised(m_request, output), narrowedUnit(*m_request.fused));
      const std::string& name = m_request.plan->graph().value(output).name;
      if (actual[k].dims() != expected[k].dims() || actual[k].type() != expected[k].type()) {
        fail(check, one, name, "is " + typeOf(actual[k]).text() + ", expected is " + typeOf(expected[k]).text());
        continue;
      }
      bool said = false;
      for (std::int64_t i = 0; i < expected[k].count(); ++i) {
        const double a = actual[k].asDouble(i), e = expected[k].asDouble(i);
        check.maxOverRms = std::max(check.maxOverRms, bound.overRms(a, e));
        if (said || bound.holds(a, e)) continue;
        said = true;
        fail(check, one, name, fmt::format("element {} is {:.9g}, expected is {:.9g}", i, a, e));
      }
    }
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
  std::vector<std::vector<Tensor>> m_expected;  ///< by case; none: the reference refuses it
  RegionCheck m_check;
};

}  // namespace

Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop) {
  return RegionChecker(backend, request, cases, store).run(stop);
}

}  // namespace fusescope
