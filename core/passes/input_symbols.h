#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/extent_expression.h"
#include "ir/model.h"

namespace fusescope {

/// What an open extent of an input, or several that must be equal, is made of.
struct InputSymbol {
  std::string name;  ///< the file's; "extent 1 of state" where it has none
  std::int64_t min = 1, opt = 1, max = 1;
  bool given = false;  ///< by the user, for another input that shares it
};

/// The open extents of a graph's inputs as expressions of symbols: one that several inputs share is one symbol.
class InputSymbols {
 public:
  /// `specs`: one per input of `graph`; those whose source is "assumed" or "exporter" have open extents, the others are
  /// as they say.
  InputSymbols(const Graph& graph, const std::vector<InputSpec>& specs);

  const std::vector<InputSymbol>& all() const { return m_symbols; }
  /// The symbols that the open extents of input `input` are made of.
  std::vector<std::size_t> ofInput(std::size_t input) const;
  bool isOpen(std::size_t input) const { return m_open[input]; }

  /// The types of all inputs with these values of the symbols, by index. Nothing if one is no extent.
  std::optional<std::vector<TensorType>> types(const std::vector<std::int64_t>& values) const;
  /// The extents of input `input` with these values of the symbols; -1 for one that is none.
  Dims extents(std::size_t input, const std::vector<std::int64_t>& values) const;

 private:
  std::size_t symbolFor(const std::string& key, InputSymbol symbol);
  void bindGiven(const Graph& graph, const std::vector<InputSpec>& specs);
  void addOpen(std::size_t input, const Value& value, const InputSpec& spec);

  std::vector<InputSymbol> m_symbols;
  std::vector<std::string> m_keys;  ///< in expressions; by symbol
  std::vector<TensorType> m_types;
  std::vector<std::vector<ExtentExpression>> m_extents;  ///< by input and axis
  std::vector<bool> m_open;
};

}  // namespace fusescope
