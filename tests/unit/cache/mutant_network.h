#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "planning/cover.h"

namespace fusescope::test {

/// This is a constant of a network.
struct MutantConstant {
  std::string type;  ///< "float", "int64", "int8"
  std::vector<std::int64_t> dims;
  std::vector<double> numbers;
  bool operator==(const MutantConstant&) const = default;
};

/// A node is written in the terms of ONNX's text, and has one place for each number and word that a mutant may change.
struct MutantNode {
  std::string op;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, std::string> attributes;
  /// A branch of an If has nodes that read values of the network around it, and gives some of their values.
  struct Body {
    std::vector<MutantNode> nodes;
    std::vector<std::string> outputs;
    bool operator==(const Body&) const = default;
  };
  std::map<std::string, Body> bodies;
  bool operator==(const MutantNode&) const = default;
};

/// This is what another compiler is told besides the network, and what the compiler and its machine are.
struct MutantAsking {
  PlanOptions options;  ///< of the plan that is handed over, with the name of the compiler
  int threads = 1;
  std::map<std::string, std::array<std::int64_t, 3>> ranges;  ///< of the first extent of an input: min, opt, max
  std::string version = "1.0", package = "2.0", code = "c0", driver = "550", processor = "EPYC";
  std::string before;  ///< the key of what was compiled before in the same process
  bool operator==(const MutantAsking&) const = default;
};

/// Most values of the network have the extents [batch, rows, columns]; those inside a part may have others.
struct MutantNetwork {
  std::string type = "float";
  std::int64_t batch = 2, rows = 3, columns = 4;
  std::string symbolOfX, symbolOfY;  ///< of the first extent; empty: it is `batch`
  std::vector<MutantNode> nodes;
  std::map<std::string, MutantConstant> constants;  ///< of a type "T": it is that of the network
  std::vector<std::string> outputs;
  MutantAsking asking;
  std::string prefix;      ///< of all names
  std::uint32_t seed = 0;  ///< from which it was made
  bool operator==(const MutantNetwork&) const = default;

  std::string text() const;
};

/// Makes random choices, which are the same for the same seed.
class MutantChoices {
 public:
  explicit MutantChoices(std::uint32_t seed) : m_random(seed) {}
  std::uint32_t seed() { return static_cast<std::uint32_t>(m_random()); }
  int pick(int count) { return static_cast<int>(m_random() % static_cast<unsigned>(count)); }
  template <class Container>
  auto& any(Container& items) {
    return *std::next(std::begin(items), pick(static_cast<int>(std::size(items))));
  }

 private:
  std::mt19937 m_random;
};

/// Returns a network of products, convolutions, norms, reductions, moves, quantisation and bodies. With the same seed
/// and other extents it has the same nodes.
MutantNetwork mutantBase(std::uint32_t seed, std::array<std::int64_t, 3> extents);
MutantNetwork mutantBase(std::uint32_t seed);

inline constexpr int kMutationKinds = 19;
/// Changes one thing of a network that mutantBase() made, and returns the name of its kind, of which there are
/// kMutationKinds. The text of the network, or what a compiler is told, differs from before; the result may not be a
/// valid network. Returns an empty text if nothing of this kind was changed.
std::string mutate(MutantNetwork& network, int kind, MutantChoices& choices);
/// This is the kind of a mutant in which only names differ.
inline constexpr const char* kOnlyNames = "names only";

}  // namespace fusescope::test
