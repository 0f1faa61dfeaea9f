#include "passes/fit_input_specs.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "passes/extent_bounds.h"

namespace fusescope {
namespace {

class Fitting {
 public:
  Fitting(Model& model, const StopToken& stop)
      : m_model(model), m_symbols(*model.graph, model.inputSpecs), m_trial(*model.graph), m_stop(stop) {}

  Status run() {
    ExtentSearch search(m_symbols, m_trial, m_stop);
    m_found = TRY(search.run());
    if (!m_found.misfit) m_bounds = TRY(extentBounds(m_symbols, m_trial, m_found, m_stop));
    if (m_bounds) TRY(boundBranches());
    if (m_bounds) roundBounds();
    for (std::size_t i = 0; i < m_model.inputSpecs.size(); ++i)
      if (m_symbols.isOpen(i)) TRY(settle(i));
    return Done{};
  }

 private:
  /// The bounds of a branch of an If that limits the network.
  struct BranchBounds {
    BodyPlace branch;
    ExtentBounds bounds;
  };

  /// The branches of an If may need different extents, so that those of each are searched separately.
  Status boundBranches() {
    std::set<std::size_t> holders;
    for (const auto* side : {&m_bounds->least, &m_bounds->most})
      for (const ExtentBound& bound : *side)
        if (bound.holder) holders.insert(*bound.holder);
    for (const std::size_t holder : holders) {
      for (const BodyPlace& branch : m_trial.branchesOf(holder)) {
        const ExtentTrial trial = m_trial.taking(branch);
        m_branches.push_back({branch, TRY(extentBounds(m_symbols, trial, m_found, m_stop))});
      }
    }
    return Done{};
  }

  /// Returns the symbols that alone form the extents to which conditions refer as `name`.
  std::set<std::size_t> symbolsCalled(std::string_view name) const {
    std::set<std::size_t> called;
    for (std::size_t input = 0; input < m_model.declaredInputs.size(); ++input) {
      const Shape& shape = m_model.declaredInputs[input].shape;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        if (shape.dims[axis].symbol != name || !m_symbols.isOpen(input)) continue;
        for (const std::size_t symbol : m_symbols.ofInput(input)) {
          std::vector<std::int64_t> more = m_found.values;
          ++more[symbol];
          const bool alone = m_symbols.extents(input, m_found.values)[axis] == m_found.values[symbol] &&
                             m_symbols.extents(input, more)[axis] == more[symbol];
          if (alone) called.insert(symbol);
        }
      }
    }
    return called;
  }

  /// If the conditions require multiples of a number, the plan is valid only for these, so that its range begins and
  /// ends at them.
  void roundBounds() {
    constexpr std::string_view kMultiple = " % ";
    for (const ExtentCondition& condition : m_model.conditions) {
      const std::size_t at = condition.left.rfind(kMultiple);
      const auto step = at == std::string::npos || condition.right != "0"
                            ? std::nullopt
                            : ExtentExpression::parse(condition.left.substr(at + kMultiple.size()));
      const std::int64_t n = step ? step->number().value_or(0) : 0;
      if (n < 2) continue;
      for (const std::size_t symbol : symbolsCalled(std::string_view(condition.left).substr(0, at))) {
        if (m_symbols.all()[symbol].given || m_found.values[symbol] % n != 0) continue;
        ExtentBound &least = m_bounds->least[symbol], &most = m_bounds->most[symbol];
        const std::string why = "the plan is valid if " + condition.text();
        if (least.value % n != 0) least = {.value = (least.value + n - 1) / n * n, .problem = why};
        if (most.value % n != 0) most = {.value = most.value / n * n, .problem = why};
      }
    }
  }

  static std::vector<std::int64_t> valuesOf(const std::vector<ExtentBound>& bounds) {
    std::vector<std::int64_t> values;
    for (const ExtentBound& bound : bounds) values.push_back(bound.value);
    return values;
  }

  /// Adds "then_branch of 'If_0' alone accepts extents from [1, 192] to [64, 1024]" for each branch that limits the
  /// network.
  void sayBranches(std::size_t input, std::vector<std::string>& reasons) const {
    for (const BranchBounds& of : m_branches) {
      const std::string& holder = m_trial.graph().node(m_trial.graph().order()[of.branch.holder]).name;
      reasons.push_back(of.branch.attribute + " of '" + holder + "' alone accepts extents from " +
                        toText(m_symbols.extents(input, valuesOf(of.bounds.least))) + " to " +
                        toText(m_symbols.extents(input, valuesOf(of.bounds.most))));
    }
  }

  Status settle(std::size_t input) {
    InputSpec& spec = m_model.inputSpecs[input];
    if (isLeftOpen(input)) {
      askFor(input);
      return Done{};
    }
    std::vector<std::int64_t> least, most;
    for (std::size_t i = 0; i < m_symbols.all().size(); ++i) {
      least.push_back(m_bounds ? m_bounds->least[i].value : m_symbols.all()[i].min);
      most.push_back(m_bounds ? m_bounds->most[i].value : std::max(m_symbols.all()[i].max, m_found.values[i]));
    }
    spec.opt = m_symbols.extents(input, m_found.values);
    spec.min = m_symbols.extents(input, least);
    spec.max = m_symbols.extents(input, most);
    for (std::size_t axis = 0; axis < spec.opt.size(); ++axis) {
      spec.min[axis] = std::clamp<std::int64_t>(spec.min[axis], 0, spec.opt[axis]);
      spec.max[axis] = std::max(spec.max[axis], spec.opt[axis]);
    }
    std::vector<std::string> reasons;
    for (const std::size_t symbol : m_symbols.ofInput(input)) reasons.push_back(TRY(reasonOf(symbol)));
    sayBranches(input, reasons);
    const bool ranked = m_model.graph->value(m_model.graph->inputs()[input]).type.shape.ranked;
    if (!ranked) reasons.emplace_back("the file does not contain its rank, and the network accepts a scalar");
    const char* code = spec.source == "exporter" ? "input.range_of_exporter" : "input.assumed";
    m_model.decisions.push_back(decide(code, {Subject::value(spec.name)}, "fit_input_specs",
                                       {{"input", spec.name},
                                        {"min", toText(spec.min)},
                                        {"opt", toText(spec.opt)},
                                        {"max", toText(spec.max)},
                                        {"because", joined(reasons, "; ")}}));
    return Done{};
  }

  /// Returns why a symbol has its value, and why it cannot have others.
  Result<std::string> reasonOf(std::size_t index) {
    std::string reason = TRY(reasonOfValue(index));
    if (!m_bounds) return reason;
    for (const auto& [bound, side] :
         {std::pair(&m_bounds->least[index], "below"), std::pair(&m_bounds->most[index], "above")})
      if (!bound->problem.empty())
        reason += ", not " + std::string(side) + " " + std::to_string(bound->value) + " (" + bound->problem + ")";
    return reason;
  }

  Result<std::string> reasonOfValue(std::size_t index) {
    const InputSymbol& symbol = m_symbols.all()[index];
    const std::string is = symbol.name + " is " + std::to_string(m_found.values[index]);
    if (symbol.given) return is + ", as was given for another input";
    if (m_found.values[index] == symbol.opt)
      return is + (symbol.opt == 1 ? ", because the network accepts it" : ", which the network accepts");
    std::vector<std::int64_t> usual = m_found.values;
    usual[index] = symbol.opt;
    const auto types = m_symbols.types(usual);
    if (!types) return is + ", which the network accepts";
    const auto misfit = TRY(m_trial.misfit(*types, m_found.branches, m_stop));
    if (!misfit) return is + ", which the network accepts together with the others";
    const std::string chosen =
        m_found.isWhole(index)
            ? ", and it is the nearest accepted extent at which the pooling windows divide the axis evenly"
            : "";
    return is + ", because with " + std::to_string(symbol.opt) + " " + problemOf(misfit->error) + chosen;
  }

  bool isLeftOpen(std::size_t input) const {
    if (!m_found.misfit) return false;
    return std::ranges::find(m_found.inputsWithoutExtents, input) != m_found.inputsWithoutExtents.end();
  }

  /// Returns "--input state=2,batch,128": the known extents, and names for the others.
  std::string commandFor(std::size_t input) const {
    const Value& value = m_model.graph->value(m_model.graph->inputs()[input]);
    if (!value.type.shape.ranked) return "--input " + value.name + "=DIMS";
    std::vector<std::string> dims;
    for (std::size_t axis = 0; axis < value.type.shape.rank(); ++axis) {
      const Dim& dim = value.type.shape.dims[axis];
      dims.push_back(dim.known() ? std::to_string(dim.size) : dim.symbol.empty() ? "N" : dim.symbol);
    }
    return "--input " + value.name + "=" + joined(dims, ",");
  }

  void askFor(std::size_t input) {
    InputSpec& spec = m_model.inputSpecs[input];
    const Shape& shape = m_model.graph->value(m_model.graph->inputs()[input]).type.shape;
    for (std::size_t axis = 0; axis < spec.opt.size(); ++axis)
      if (!shape.dims[axis].known()) spec.opt[axis] = -1;
    m_model.decisions.push_back(decide("input.not_assumed", {Subject::value(spec.name)}, "fit_input_specs",
                                       {{"input", spec.name},
                                        {"command", commandFor(input)},
                                        {"tried", toText(m_found.tried(m_symbols, input))},
                                        {"problem", problemOf(m_found.misfit->error)}}));
  }

  Model& m_model;
  const InputSymbols m_symbols;
  const ExtentTrial m_trial;
  const StopToken& m_stop;
  FoundExtents m_found;
  std::optional<ExtentBounds> m_bounds;  ///< nothing where not all of the network can work
  std::vector<BranchBounds> m_branches;
};

}  // namespace

Status fitInputSpecs(Model& model, const StopToken& stop) {
  const bool open = std::ranges::any_of(
      model.inputSpecs, [](const InputSpec& spec) { return spec.source == "assumed" || spec.source == "exporter"; });
  if (!open || model.inputsFitted) return Done{};
  TRY(Fitting(model, stop).run());
  model.inputsFitted = true;
  return Done{};
}

}  // namespace fusescope
