#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/small_vector.h"
#include "planning/plan.h"

namespace fusescope {

/// The extents of all values of a plan as numbers that follow from those of its inputs: each different expression that
/// the plan's types hold is worked out once for a set of inputs, and no type is inferred.
class PlanExtents {
 public:
  /// The values of all expressions, for one set of extents of the inputs.
  using Numbers = std::vector<std::int64_t>;
  /// An extent that depends on those of the inputs: numbers[number].
  struct OpenAxis {
    std::size_t axis = 0, number = 0;
  };

  /// Nothing unless it is proved that the types of `plan` hold for all extents that keep its conditions: inference from
  /// the inputs' open extents alone gives them again, every extent is an expression of symbols of the inputs, and
  /// types inferred for `known` extents agree. Containers are left out: their elements have extents of their own.
  static std::optional<PlanExtents> prove(const Plan& plan, const std::map<std::string, Dims>& known);

  /// Nothing where the plan's types may not hold: a condition is broken, an extent is 0, or inputs that share a symbol
  /// have different extents.
  std::optional<Numbers> numbersFor(const std::map<std::string, Dims>& inputs) const;

  /// Those of a value that are not the same for all inputs.
  std::span<const OpenAxis> openAxes(ValueId value) const { return m_open[value.index]; }
  /// The extents of a value that is no constant.
  SmallDims dimsOf(ValueId value, const Numbers& numbers) const;

 private:
  /// `axis` of an input; it is worth the value of the symbol or the expression.
  struct InputAxis {
    std::string input;
    std::size_t axis = 0;
    Dim dim;
    ExtentExpression expression;  ///< of `dim`
  };
  /// A condition of the plan.
  struct Condition {
    ExtentExpression left, right;
    ExtentCondition::Relation relation;
  };
  explicit PlanExtents(const Plan& plan);
  bool readConditions();
  bool readValues();
  std::size_t numberOf(const std::string& expression);
  bool agreesWith(const std::vector<TensorType>& types, const Numbers& numbers) const;
  std::optional<std::int64_t> valueOf(const std::string& symbol, const Numbers& symbols) const;

  const Plan* m_plan;
  std::vector<std::string> m_symbols;  ///< of the inputs
  std::vector<InputAxis> m_inputAxes;
  std::vector<std::string> m_texts;  ///< of the expressions
  std::vector<ExtentExpression> m_expressions;
  std::vector<Condition> m_conditions;
  std::vector<std::vector<OpenAxis>> m_open;  ///< by ValueId
};

}  // namespace fusescope
