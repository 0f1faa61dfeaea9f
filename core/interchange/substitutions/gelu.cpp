#include <cmath>
#include <numbers>

#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

/// x · 0.5 · (1 + Erf(x / √2)), with the three factors multiplied in any order:
///   x ─┬─ Div √2 | Mul 1/√2 ─ Erf ─ Add 1 ─ p
///      └─ y = x · p · 0.5
class ErfGelu {
 public:
  ErfGelu(const FileMatcher& match, std::size_t erf) : m_match(match) { m_places.insert(erf); }

  std::optional<ReplacedSite> site(std::size_t erf) {
    const std::string x = argument(m_match.node(erf).inputs[0]);
    const auto sum = m_match.onlyReader(m_match.result(erf));
    if (x.empty() || !sum || !m_match.is(*sum, "Add") ||
        !m_match.isNumber(m_match.otherOperand(*sum, m_match.result(erf)), 1))
      return std::nullopt;
    m_places.insert(*sum);
    const std::string y = product(x, m_match.result(*sum));
    if (y.empty() || !m_match.sameRank(x, y) || !m_match.isClosed(m_places, y)) return std::nullopt;
    const auto last = static_cast<std::size_t>(m_match.values().maker(y));
    const std::string name = m_match.name(last);
    return ReplacedSite{.gone = m_places, .made = {fileNodeOf(name, "Gelu", {x}, y)}, .at = name};
  }

 private:
  /// What is divided by √2; empty: nothing is.
  std::string argument(const std::string& scaled) {
    for (const auto& [op, number] : {std::pair("Div", std::numbers::sqrt2), std::pair("Mul", 1 / std::numbers::sqrt2)})
      if (const auto place = m_match.maker(scaled, op); place && m_match.node(*place).inputs.size() == 2) {
        const auto& inputs = m_match.node(*place).inputs;
        const bool isBehind = m_match.isNumber(inputs[1], number);
        if (!isBehind && (std::string_view(op) == "Div" || !m_match.isNumber(inputs[0], number))) continue;
        m_places.insert(*place);
        return isBehind ? inputs[0] : inputs[1];
      }
    return {};
  }

  /// `value` halved by the node that alone reads it; empty: it is not.
  std::string halved(const std::string& value) {
    const auto place = m_match.onlyReader(value);
    if (!place) return {};
    const std::string other = m_match.otherOperand(*place, value);
    const bool halves =
        (m_match.is(*place, "Mul") && m_match.isNumber(other, 0.5)) ||
        (m_match.is(*place, "Div") && m_match.node(*place).inputs[1] == other && m_match.isNumber(other, 2));
    if (!halves) return {};
    m_places.insert(*place);
    return m_match.result(*place);
  }

  /// x · p · 0.5; empty: p goes elsewhere.
  std::string product(const std::string& x, const std::string& p) {
    const auto first = m_match.onlyReader(p);
    if (!first) return {};
    if (const std::string half = halved(p); !half.empty()) {
      const auto last = m_match.onlyReader(half);
      if (!last || !m_match.is(*last, "Mul") || m_match.otherOperand(*last, half) != x) return {};
      m_places.insert(*last);
      return m_match.result(*last);
    }
    if (!m_match.is(*first, "Mul")) return {};
    m_places.insert(*first);
    const std::string other = m_match.otherOperand(*first, p);
    if (other == x) return halved(m_match.result(*first));
    return halved(x, other) ? m_match.result(*first) : std::string();
  }

  /// Returns whether `half` is half of `x`, which others may read too.
  bool halved(const std::string& x, const std::string& half) {
    for (const auto& [op, number] : {std::pair("Mul", 0.5), std::pair("Div", 2.0)}) {
      const auto place = m_match.maker(half, op);
      if (!place || !m_match.isNumber(m_match.otherOperand(*place, x), number)) continue;
      if (std::string_view(op) == "Div" && m_match.node(*place).inputs[0] != x) continue;
      m_places.insert(*place);
      return true;
    }
    return false;
  }

  const FileMatcher& m_match;
  std::set<std::size_t> m_places;
};

Result<std::vector<ReplacedSite>> findErfGelus(const SiteSearch& search) {
  std::vector<ReplacedSite> sites;
  for (std::size_t place = 0; place < search.match.nodes(); ++place)
    if (search.match.is(place, "Erf"))
      if (auto site = ErfGelu(search.match, place).site(place)) sites.push_back(std::move(*site));
  return sites;
}

/// The nodes of one Gelu: by Erf, or by Tanh where its approximation says so.
ReplacedSite spelledOut(const SiteSearch& search, std::size_t place, DataType type) {
  const FileMatcher& match = search.match;
  const std::string &x = match.node(place).inputs[0], &y = match.result(place);
  const std::string name = match.name(place);
  ReplacedSite site{.gone = {place}};
  const auto add = [&](const std::string& what, const std::string& op, std::vector<std::string> inputs) {
    const std::string value = search.fresh(y + "_" + what);
    site.made.push_back(fileNodeOf(search.fresh(name + "_" + what), op, std::move(inputs), value));
    return value;
  };
  const auto constant = [&](const std::string& what, double number) {
    return search.number(site, y + "_" + what, number, type);
  };
  std::string bent;
  if (match.text(place, "approximate", "none") == "tanh") {
    const std::string cube = add("cube", "Pow", {x, constant("three", 3)});
    const std::string part = add("part", "Mul", {cube, constant("share", 0.044715)});
    const std::string sum = add("sum", "Add", {x, part});
    bent = add("tanh", "Tanh", {add("scaled", "Mul", {sum, constant("scale", std::sqrt(2 / std::numbers::pi))})});
  } else {
    bent = add("erf", "Erf", {add("scaled", "Div", {x, constant("sqrt2", std::numbers::sqrt2)})});
  }
  if (match.text(place, "approximate", "none") != "tanh") site.at = site.made.back().name;
  const std::string up = add("up", "Add", {bent, constant("one", 1)});
  // Halved first, as ONNX does: in a narrow type x · 2 may be infinite where the Gelu is not.
  const std::string halved = add("halved", "Mul", {x, constant("half", 0.5)});
  site.made.push_back(fileNodeOf(name, "Mul", {halved, up}, y));
  return site;
}

Result<std::vector<ReplacedSite>> findGelus(const SiteSearch& search) {
  std::vector<ReplacedSite> sites;
  for (std::size_t place = 0; place < search.match.nodes(); ++place) {
    if (!search.match.is(place, "Gelu")) continue;
    const DataType type = search.match.type(search.match.node(place).inputs[0]).dtype;
    if (isFloat(type)) sites.push_back(spelledOut(search, place, type));
  }
  return sites;
}

}  // namespace

Substitution gelu() {
  return {.name = "gelu",
          .summary = "x · 0.5 · (1 + Erf(x / √2)), multiplied in any order, becomes Gelu (opset 20)",
          .inverse = "gelu-spelled-out",
          .opset = 20,
          .find = &findErfGelus};
}

Substitution geluSpelledOut() {
  return {.name = "gelu-spelled-out",
          .summary = "Gelu becomes Div, Erf, Add and two Muls, or the operators of its approximation by Tanh",
          .inverse = "gelu",
          .find = &findGelus};
}

}  // namespace fusescope
