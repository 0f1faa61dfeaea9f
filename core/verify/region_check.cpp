#include "verify/region_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "backends/reference/reference_backend.h"
#include "engine/kernels/contract_numerics.h"
#include "engine/kernels/tensor_kernel.h"
#include "planning/structure.h"
#include "verify/element_bounds.h"
#include "verify/rounding_noise.h"

namespace fusescope {
namespace {

/// The maximum number of runs with other roundings before a result is called wrong. A change that occurs in every
/// second run is missed by one in a million of such series.
constexpr std::uint64_t kMostDisturbedRuns = 20;

/// Returns whether the contract of `fused` rounds between two of its nodes.
bool roundsInside(const FusedNode& fused) {
  return std::ranges::any_of(fused.innerEdges, [](const InnerEdge& edge) { return isNarrow(edge.type); });
}

/// Returns `fused` as if nothing were rounded between its nodes.
FusedNode withoutRounding(FusedNode fused) {
  for (InnerEdge& edge : fused.innerEdges)
    if (isNarrow(edge.type)) edge.type = DataType::F32;
  return fused;
}

/// Determines whether a kernel does the roundings inside its contract. Values next to a tie may be rounded to either
/// side, so that single elements show nothing; but most elements are nearer to the expected values than to those
/// without roundings. This also works if stored values are too coarse for ElementBounds.
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
      m_nearUnrounded += std::fabs(a - u) < std::fabs(a - e) ? 1 : 0;
    }
  }
  bool leavesRoundingOut() const { return m_telling >= kFewest && 2 * m_nearUnrounded > m_telling; }

 private:
  static constexpr std::size_t kFewest = 48;
  std::size_t m_telling = 0;  ///< the number of elements that the roundings change
  std::size_t m_nearUnrounded = 0;
};

bool isFinite(const RegionCase& one) {
  return std::ranges::all_of(one.inputs, [](const Tensor& input) { return notFiniteIn(input) == 0; });
}

/// Returns whether a kernel has lost NaN. This is checked for inputs that are infinite or NaN; kernels may spread NaN
/// to more elements (by multiplying it with zeros of their own), and may combine infinities in any order.
bool losesNaN(double actual, double expected) {
  return std::isnan(expected) && std::isfinite(actual);
}

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
    m_reference = TRY(ReferenceNodes::prepare(m_request));
    m_constants = TRY(m_reference->constantsOf(m_request));
    m_expected = TRY(resultsOf(*m_reference, m_constants));
    if (!roundsInside(*m_request.fused)) return Done{};
    const FusedNode fused = withoutRounding(*m_request.fused);
    KernelRequest unrounded = m_request;
    unrounded.fused = &fused;
    const auto reference = TRY(ReferenceNodes::prepare(unrounded));
    m_unrounded = TRY(resultsOf(*reference, TRY(reference->constantsOf(unrounded))));
    return Done{};
  }

  /// Returns the results by case. There are none if the values of a case do not allow it (a division of integers by
  /// zero), which says nothing about a kernel.
  Result<std::vector<std::vector<Tensor>>> resultsOf(const ReferenceNodes& reference,
                                                     const std::vector<Tensor>& constants) const {
    std::vector<std::vector<Tensor>> results;
    for (const RegionCase& one : m_cases) {
      TRY(checkStop(m_stop));
      auto ran = reference.run(one.inputs, constants, m_stop);
      results.push_back(ran.ok() ? std::move(ran).value() : std::vector<Tensor>());
    }
    return results;
  }

  Status checkTactic(const Tactic& tactic, TacticCheck& check) {
    if (!beyondContract(*m_request.plan, *m_request.fused, tactic.numerics).exact()) {
      check.note = "it was not run, because the contract does not allow its numerics (" + tactic.numerics.text() + ")";
      return Done{};
    }
    auto kernel = TensorKernel::prepare(m_backend, m_request, tactic, m_store);
    if (!kernel.ok()) {
      check.note = "it was not run, because it cannot be prepared: " + kernel.error().text();
      return Done{};
    }
    RoundingWitness witness;
    std::size_t last = 0;
    for (std::size_t i = 0; i < m_cases.size(); ++i) {
      if (m_expected[i].empty()) continue;
      if (m_cases[i].denormals && tactic.numerics.flushes) {
        note(check, "it treats denormals as zero, so it was not run on them");
        continue;
      }
      const auto actual = kernel.value().run(m_cases[i].inputs);
      if (!actual.ok()) {
        fail(check, m_cases[i], {}, "the run failed: " + actual.error().text());
        continue;
      }
      TRY(compare(check, i, actual.value()));
      if (!check.ok || m_unrounded.empty() || m_unrounded[i].empty() || m_cases[i].denormals) continue;
      for (std::size_t k = 0; k < m_expected[i].size(); ++k)
        witness.add(actual.value()[k], m_expected[i][k], m_unrounded[i][k]);
      last = i;
    }
    if (check.ok && witness.leavesRoundingOut())
      fail(check, m_cases[last], m_request.plan->graph().value(m_request.fused->outputs.front().value).name,
           "is nearer to the result without roundings between its nodes than to the expected result");
    return Done{};
  }

  /// The bounds of a case, and how many disturbed runs they include.
  struct CaseBounds {
    std::vector<ElementBounds> ofOutputs;
    std::uint64_t runs = 0;
  };

  CaseBounds& boundsOf(std::size_t at) {
    const auto [known, isNew] = m_bounds.try_emplace(at);
    if (isNew)
      for (const Tensor& expected : m_expected[at]) known->second.ofOutputs.emplace_back(expected);
    return known->second;
  }

  /// Adds one more run with other roundings.
  Status disturb(CaseBounds& bounds, std::size_t at) {
    TRY(checkStop(m_stop));
    RoundingNoise noise(m_request.plan->graph(), bounds.runs++);
    const auto ran = m_reference->run(m_cases[at].inputs, m_constants, m_stop, &noise);
    if (!ran.ok()) return Done{};  // the disturbance made a divisor zero
    for (std::size_t k = 0; k < ran.value().size(); ++k)
      if (ran.value()[k].dims() == m_expected[at][k].dims()) bounds.ofOutputs[k].include(ran.value()[k]);
    return Done{};
  }

  /// Returns the elements of output `k` that are outside their bounds, however a right kernel may round.
  Result<std::vector<std::int64_t>> wrongElements(std::size_t at, std::size_t k, const Tensor& actual) {
    CaseBounds& bounds = boundsOf(at);
    std::vector<std::int64_t> wrong;
    for (std::int64_t i = 0; i < actual.count(); ++i)
      if (!bounds.ofOutputs[k].holds(i, actual.asDouble(i))) wrong.push_back(i);
    while (!wrong.empty() && bounds.runs < kMostDisturbedRuns) {
      TRY(disturb(bounds, at));
      std::erase_if(wrong, [&](std::int64_t i) { return bounds.ofOutputs[k].holds(i, actual.asDouble(i)); });
    }
    return wrong;
  }

  Status compare(TacticCheck& check, std::size_t number, const std::vector<Tensor>& actual) {
    const RegionCase& one = m_cases[number];
    const std::vector<Tensor>& expected = m_expected[number];
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const std::string& name = m_request.plan->graph().value(m_request.fused->outputs[k].value).name;
      if (actual[k].dims() != expected[k].dims() || actual[k].type() != expected[k].type()) {
        fail(check, one, name, "is " + typeOf(actual[k]).text() + ", expected " + typeOf(expected[k]).text());
        continue;
      }
      const ElementBounds& bounds = boundsOf(number).ofOutputs[k];
      for (std::int64_t i = 0; i < expected[k].count(); ++i)
        if (const double a = actual[k].asDouble(i), off = bounds.overRms(i, a); off > check.maxOverRms) {
          check.maxOverRms = off;
          check.worstCase = one.name;
          check.isWide = !bounds.heldAtFirst(i, a);
        }
      const auto wrong = TRY(wrongElements(number, k, actual[k]));
      if (wrong.empty()) continue;
      const auto isFault = [&](std::int64_t i) { return losesNaN(actual[k].asDouble(i), expected[k].asDouble(i)); };
      const auto fault = isFinite(one) ? wrong.begin() : std::ranges::find_if(wrong, isFault);
      const std::int64_t i = fault != wrong.end() ? *fault : wrong.front();
      const double a = actual[k].asDouble(i), e = expected[k].asDouble(i);
      if (fault == wrong.end()) {
        note(check, fmt::format("on {}: {} element {} is {:.9g} instead of {:.9g}", one.name, name, i, a, e));
      } else {
        fail(check, one, name, fmt::format("element {} is {:.9g}, expected {:.9g}", i, a, e));
      }
    }
    return Done{};
  }

  static void note(TacticCheck& check, const std::string& text) {
    if (check.note.find(text) == std::string::npos) check.note += (check.note.empty() ? "" : "; ") + text;
  }

  void fail(TacticCheck& check, const RegionCase& one, const std::string& output, std::string what) {
    if (check.ok)
      check.note = fmt::format("on {}: {} {}{}{}", one.name, output, what, check.note.empty() ? "" : "; ", check.note);
    check.ok = false;
    const bool isMoreSpecific = !m_check.failure || (m_check.failure->isEdge && !one.isEdge);
    if (isMoreSpecific)
      m_check.failure = RegionFailure{check.name, one.name, output, std::move(what), one.inputs, one.isEdge};
  }

  const Backend& m_backend;
  const KernelRequest& m_request;
  std::span<const RegionCase> m_cases;
  KernelStore& m_store;
  const StopToken& m_stop;
  std::vector<std::vector<Tensor>> m_expected;  ///< by case; nothing if the reference kernel refuses the case
  /// The results without the roundings inside the contract; empty if there are none.
  std::vector<std::vector<Tensor>> m_unrounded;
  std::map<std::size_t, CaseBounds> m_bounds;  ///< by case
  std::unique_ptr<const ReferenceNodes> m_reference;
  std::vector<Tensor> m_constants;  ///< the constants of m_reference
  RegionCheck m_check;
};

}  // namespace

Result<RegionCheck> checkRegion(const Backend& backend, const KernelRequest& request, std::span<const RegionCase> cases,
                                KernelStore& store, const StopToken& stop) {
  return RegionChecker(backend, request, cases, store, stop).run();
}

}  // namespace fusescope
