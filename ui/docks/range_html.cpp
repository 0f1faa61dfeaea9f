#include "ui/docks/range_html.h"

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "ui/docks/inspector_html.h"
#include "ui/document/qt_text.h"
#include "ui/widgets/histogram_picture.h"

namespace fusescope {

namespace {

constexpr int kPictureWidth = 280, kPictureHeight = 96;
constexpr std::size_t kMostPictures = 6;
/// The most nodes between a value and the value that was quantised: Q and DQ, and one move of codes between them.
constexpr int kMostSteps = 4;

bool movesOrQuantises(const Node& node) {
  static const std::set<std::string_view> kOps = {"QuantizeLinear", "DequantizeLinear", "Reshape",  "Transpose",
                                                  "Flatten",        "Squeeze",          "Unsqueeze"};
  return kOps.contains(node.op);
}

/// Returns the values between the nodes and the nodes around them, in the order in which they are read and written.
std::vector<ValueId> edgesOf(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<ValueId> edges;
  const auto inside = [&](NodeId node) { return std::ranges::find(nodes, node) != nodes.end(); };
  const auto add = [&](ValueId value) {
    if (value.valid() && std::ranges::find(edges, value) == edges.end()) edges.push_back(value);
  };
  for (const NodeId node : nodes)
    for (const ValueId value : graph.node(node).inputs)
      if (value.valid() && !inside(graph.value(value).producer)) add(value);
  for (const NodeId node : nodes)
    for (const ValueId value : graph.node(node).outputs)
      if (value.valid() && (graph.isOutput(value) || !std::ranges::all_of(graph.value(value).consumers, inside)))
        add(value);
  return edges;
}

}  // namespace

KnownRange rangeOf(const Plan& plan, ValueId value) {
  if (plan.options.ranges == nullptr) return {};
  const Graph& graph = plan.graph();
  for (int step = 0; step < kMostSteps && value.valid(); ++step) {
    const auto known = plan.options.ranges->edges.find(graph.value(value).name);
    if (known != plan.options.ranges->edges.end()) return {known->first, &known->second};
    const NodeId producer = graph.value(value).producer;
    if (!producer.valid() || !movesOrQuantises(graph.node(producer))) break;
    value = graph.node(producer).inputs.front();
  }
  return {};
}

QString rangesHtml(const PlanSnapshot& snapshot, const std::vector<NodeId>& nodes, const Theme& theme) {
  const Plan& plan = *snapshot.plan;
  if (plan.options.ranges == nullptr) return {};
  QString text;
  std::set<std::string> shown;
  std::size_t left = 0;
  for (const ValueId value : edgesOf(plan.graph(), nodes)) {
    const KnownRange known = rangeOf(plan, value);
    if (known.edge == nullptr || shown.contains(known.value)) continue;
    if (shown.size() == kMostPictures) {
      ++left;
      continue;
    }
    shown.insert(known.value);
    text +=
        QStringLiteral(
            "<div><b>%1</b> · %2</div><div style='margin-bottom:6px'><img src='%3:%4' width='%5' height='%6'></div>")
            .arg(html(known.value), rangeWords(*known.edge).toHtmlEscaped(), kHistogramScheme,
                 QString::fromUtf8(QUrl::toPercentEncoding(qs(known.value))))
            .arg(kPictureWidth)
            .arg(kPictureHeight);
  }
  if (text.isEmpty()) return {};
  if (left > 0) text += QStringLiteral("<div>… and %1 more</div>").arg(left);
  const Ranges& ranges = *plan.options.ranges;
  const QString on = ranges.samples > 0
                         ? plural(ranges.samples, ranges.randomInputs ? QStringLiteral("random sample") : "sample")
                         : QStringLiteral("samples that the file does not name");
  return heading(QStringLiteral("Ranges of the codes, and the numbers that were seen"), theme) + text +
         QStringLiteral("<div style='color:%1'>by %2, of %3</div>")
             .arg((ranges.randomInputs ? theme.warning : theme.dimText).name(), qs(name(ranges.settings.choice.method)),
                  on);
}

QVariant histogramPicture(const Plan& plan, const QUrl& link, double ratio, const Theme& theme) {
  if (plan.options.ranges == nullptr || link.scheme() != kHistogramScheme) return {};
  const auto& edges = plan.options.ranges->edges;
  const auto known = edges.find(QUrl::fromPercentEncoding(link.path(QUrl::FullyEncoded).toUtf8()).toStdString());
  if (known == edges.end()) return {};
  QImage image(QSize(kPictureWidth, kPictureHeight) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Qt::transparent);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  paintHistogram(painter, QRectF(0, 0, kPictureWidth, kPictureHeight), known->second, theme);
  return image;
}

}  // namespace fusescope
