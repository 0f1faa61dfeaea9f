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

/// Computes the extents of all values of a plan from those of its inputs. Each distinct expression in the plan's types
/// is evaluated once for a set of inputs; no types are inferred.
class PlanExtents {
 public:
  /// The values of all expressions for one set of extents of the inputs.
  using Numbers = std::vector<std::int64_t>;
  /// An extent that depends on those of the inputs; its value is numbers[number].
  struct OpenAxis {
    std::size_t axis = 0, number = 0;
  };

  /// Returns nothing unless it is proved that the types of `plan` are right for all extents that satisfy its
  /// conditions. The proof needs three things: inference from the open extents of the inputs gives the same types
  /// again, every extent is an expression of symbols of the inputs, and the types inferred for the extents `known`
  /// agree. Plans with containers are excluded, because the elements of a container have extents of their own.
  static std::optional<PlanExtents> prove(const Plan& plan, const std::map<std::string, Dims>& known);

  /// Evaluates all expressions. Returns nothing if the plan's types may be wrong: a condition is violated, an extent is
  /// 0, or inputs that share a symbol have different extents.
  std::optional<Numbers> numbersFor(const std::map<std::string, Dims>& inputs) const;

  /// Returns the extents of a value that depend on the inputs.
  std::span<const OpenAxis> openAxes(ValueId value) const { return m_open[value.index]; }
  /// Returns the extents of a value that is not a constant.
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
