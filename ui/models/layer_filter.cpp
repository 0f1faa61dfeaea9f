#include "ui/models/layer_filter.h"

#include <algorithm>

namespace fusescope {

std::optional<LayerFilter::Term> LayerFilter::compareTerm(const QString& word) {
  static const QRegularExpression kForm(QStringLiteral("^(time|flops|bytes|error)([<>])([0-9.eE+-]+)(ms)?$"));
  const auto match = kForm.match(word);
  bool number = false;
  const double value = match.captured(3).toDouble(&number);
  if (!match.hasMatch() || !number) return std::nullopt;
  Term term;
  term.kind = Kind::Compare;
  term.text = match.captured(1);
  term.relation = match.captured(2).at(0);
  term.number = value;
  return term;
}

LayerFilter LayerFilter::parse(const QString& text) {
  LayerFilter filter;
  for (QString word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    Term term;
    if (word.size() > 1 && word.startsWith(QLatin1Char('-'))) {
      term.negated = true;
      word.remove(0, 1);
    }
    const bool negated = term.negated;
    if (const auto compare = compareTerm(word)) {
      term = *compare;
    } else if (word.size() > 2 && word.startsWith(QLatin1Char('/')) && word.endsWith(QLatin1Char('/'))) {
      term.kind = Kind::Regex;
      term.text = word.mid(1, word.size() - 2);
      term.regex = QRegularExpression(term.text);
      if (!term.regex.isValid()) {
        filter.m_problem = QStringLiteral("%1 is not a regular expression: %2").arg(word, term.regex.errorString());
        continue;
      }
    } else if (word == QLatin1String("pinned")) {
      term.kind = Kind::Pinned;
    } else if (word == QLatin1String("fused")) {
      term.kind = Kind::Fused;
    } else if (word == QLatin1String("fallback")) {
      term.kind = Kind::Fallback;
    } else if (word.startsWith(QLatin1String("op:"))) {
      term.kind = Kind::Op;
      term.text = word.mid(3);
    } else if (word.startsWith(QLatin1String("dtype:"))) {
      term.kind = Kind::Type;
      term.text = word.mid(6);
    } else if (word.startsWith(QLatin1String("region:"))) {
      term.kind = Kind::Region;
      term.text = word.mid(7);
    } else if (word.startsWith(QLatin1String("inside:"))) {
      term.kind = Kind::Inside;
      term.text = word.mid(7);
    } else {
      term.text = word;
    }
    term.negated = negated;
    filter.m_terms.push_back(term);
  }
  return filter;
}

bool LayerFilter::matches(const Term& term, const LayerView& layer) {
  switch (term.kind) {
    case Kind::Word:
      return layer.node.contains(term.text, Qt::CaseInsensitive) || layer.op.contains(term.text, Qt::CaseInsensitive) ||
             layer.fused.contains(term.text, Qt::CaseInsensitive);
    case Kind::Op:
      return layer.op.startsWith(term.text, Qt::CaseInsensitive);
    case Kind::Type:
      return layer.dtype.startsWith(term.text, Qt::CaseInsensitive);
    case Kind::Region:
      return layer.segment == term.text || layer.segment == QStringLiteral("segment_") + term.text;
    case Kind::Inside:
      if (term.text.isEmpty()) return !layer.inside.isEmpty();
      return layer.inside == term.text || layer.inside.startsWith(term.text + QLatin1Char('/'));
    case Kind::Pinned:
      return layer.pinned;
    case Kind::Fused:
      return layer.isFused;
    case Kind::Fallback:
      return layer.fallback;
    case Kind::Regex:
      return term.regex.match(layer.node).hasMatch();
    case Kind::Compare: {
      const auto& field = term.text == QLatin1String("time")    ? layer.ms
                          : term.text == QLatin1String("flops") ? layer.flops
                          : term.text == QLatin1String("error") ? layer.error
                                                                : layer.bytes;
      if (!field) return false;
      return term.relation == QLatin1Char('>') ? *field > term.number : *field < term.number;
    }
  }
  return false;
}

bool LayerFilter::matches(const LayerView& layer) const {
  return std::all_of(m_terms.begin(), m_terms.end(),
                     [&](const Term& term) { return matches(term, layer) != term.negated; });
}

QString LayerFilter::explain(const Term& term) {
  const QString no = term.negated ? QStringLiteral("not ") : QString();
  switch (term.kind) {
    case Kind::Word:
      return QStringLiteral("name %1has “%2”").arg(no, term.text);
    case Kind::Op:
      return QStringLiteral("operator is %1%2…").arg(no, term.text);
    case Kind::Type:
      return QStringLiteral("computes %1in %2").arg(no, term.text);
    case Kind::Region:
      return QStringLiteral("%1in %2").arg(no, term.text);
    case Kind::Inside:
      return QStringLiteral("%1in %2").arg(
          no, term.text.isEmpty() ? QStringLiteral("a body") : QStringLiteral("a body of ") + term.text);
    case Kind::Pinned:
      return no + QStringLiteral("pinned");
    case Kind::Fused:
      return no + QStringLiteral("fused with others");
    case Kind::Fallback:
      return no + QStringLiteral("in a fallback segment");
    case Kind::Regex:
      return QStringLiteral("name %1matches /%2/").arg(no, term.text);
    case Kind::Compare:
      return QStringLiteral("%1%2 %3 %4").arg(no, term.text, term.relation, QString::number(term.number));
  }
  return {};
}

QString LayerFilter::explanation() const {
  if (!m_problem.isEmpty()) return m_problem;
  QStringList parts;
  for (const Term& term : m_terms) parts << explain(term);
  return parts.join(QStringLiteral(" and "));
}

}  // namespace fusescope
