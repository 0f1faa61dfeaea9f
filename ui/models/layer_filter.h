#pragma once

#include <QRegularExpression>
#include <QString>
#include <optional>
#include <vector>

namespace fusescope {

/// What the filter can match in one layer.
struct LayerView {
  QString node, op, fused, segment, dtype;
  QString inside;  ///< the holder whose body contains it, or the path of holders ("outer/inner"); empty: the network
                   ///< itself
  bool pinned = false, isFused = false, fallback = false;
  std::optional<double> ms, flops, bytes, error;  ///< `error` is the local max|Δ| over rms
};

/// The filter language. All words must match; they are searched in the names of node, operator and fused node. Other
/// terms are `op:Conv`, `dtype:f16`, `region:segment_1`, `inside:HOLDER` (in its bodies; `inside:` in any), `pinned`,
/// `fused`, `fallback`, `time>0.5ms`, `flops>1e6`, `bytes<1000`, `error>0.01` (local, max|Δ| over rms) and `/regex/`; a
/// `-` before a term negates it.
class LayerFilter {
 public:
  static LayerFilter parse(const QString& text);
  bool matches(const LayerView& layer) const;
  bool empty() const { return m_terms.empty(); }
  /// Returns what was understood, for people: "operator is Conv and not pinned", or what was not understood.
  QString explanation() const;
  bool understood() const { return m_problem.isEmpty(); }

 private:
  enum class Kind { Word, Op, Type, Region, Inside, Pinned, Fused, Fallback, Compare, Regex };
  struct Term {
    Kind kind = Kind::Word;
    bool negated = false;
    QString text;  ///< the text, or for Compare the name of the field
    QChar relation;
    double number = 0;
    QRegularExpression regex;
  };
  static bool matches(const Term& term, const LayerView& layer);
  static std::optional<Term> compareTerm(const QString& word);
  static QString explain(const Term& term);
  std::vector<Term> m_terms;
  QString m_problem;
};

}  // namespace fusescope
