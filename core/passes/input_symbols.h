#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/extent_expression.h"
#include "ir/model.h"

namespace fusescope {

class Graph;
struct Value;

/// A symbol of which one open extent of an input, or several equal ones, consist.
struct InputSymbol {
  std::string name;  ///< the name in the file, or "extent 1 of state" if it has none
  std::int64_t min = 1, opt = 1, max = 1;
  bool given = false;  ///< the user gave it, for another input that shares it
};

/// The open extents of a graph's inputs as expressions of symbols. A symbol that several inputs share occurs once.
class InputSymbols {
 public:
  /// `specs` has one element per input of `graph`. Inputs with source "assumed" or "exporter" have open extents; the
  /// others are fixed by their specs.
  InputSymbols(const Graph& graph, const std::vector<InputSpec>& specs);

  const std::vector<InputSymbol>& all() const { return m_symbols; }
  /// Returns the symbols that occur in the open extents of input `input`.
  std::vector<std::size_t> ofInput(std::size_t input) const;
  bool isOpen(std::size_t input) const { return m_open[input]; }

  /// Returns the types of all inputs for these values of the symbols, or nothing if an extent is invalid.
  std::optional<std::vector<TensorType>> types(const std::vector<std::int64_t>& values) const;
  /// Returns the extents of input `input` for these values of the symbols; -1 for an extent that is invalid.
  Dims extents(std::size_t input, const std::vector<std::int64_t>& values) const;

 private:
  std::size_t symbolFor(const std::string& key, InputSymbol symbol);
  void bindGiven(const Graph& graph, const std::vector<InputSpec>& specs);
  void addOpen(std::size_t input, const Value& value, const InputSpec& spec);

  std::vector<InputSymbol> m_symbols;
  std::vector<std::string> m_keys;  ///< by symbol: its name in expressions
  std::vector<TensorType> m_types;
  std::vector<std::vector<ExtentExpression>> m_extents;  ///< by input and axis
  std::vector<bool> m_open;
};

}  // namespace fusescope
