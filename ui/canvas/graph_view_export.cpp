#include <QFile>
#include <QImage>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <cmath>

#include "ui/canvas/canvas_painter.h"
#include "ui/canvas/graph_view.h"
#include "ui/canvas/graph_view_state.h"

namespace fusescope {
namespace {

constexpr double kPictureMargin = 24;
constexpr int kLargestImage = 16'384;  // pixels of the longer side

Diagnostic cannotWrite(const QString& path, const QString& why) {
  return {.message = "cannot be written: " + why.toStdString(),
          .where = {.file = path.toStdString()},
          .help = "Choose a folder that can be written to."};
}

}  // namespace

void GraphView::renderTo(QPainter& painter, const QRectF& target) const {
  const QRectF whole = m->scene->bounds.adjusted(-kPictureMargin, -kPictureMargin, kPictureMargin, kPictureMargin);
  const double scale = std::min(target.width() / whole.width(), target.height() / whole.height());
  painter.save();
  painter.fillRect(target, m->theme.canvas);
  painter.translate(target.center());
  painter.scale(scale, scale);
  painter.translate(-whole.center());
  CanvasLook look = m->look();
  look.hovered = -1;
  look.focus = false;
  look.from = nullptr;
  look.progress = 1;
  paintCanvas(painter, *m->scene, look, whole, scale);
  painter.restore();
}

Status GraphView::exportSvg(const QString& path) const {
  if (m->scene->items.empty()) return Diagnostic{.message = "there is no graph to draw", .help = "Open a model first."};
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return cannotWrite(path, file.errorString());
  const QRectF whole = m->scene->bounds.adjusted(-kPictureMargin, -kPictureMargin, kPictureMargin, kPictureMargin);
  QSvgGenerator generator;
  generator.setOutputDevice(&file);
  generator.setSize(whole.size().toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), whole.size()));
  generator.setTitle(m->cover && m->cover->model ? QString::fromStdString(m->cover->model->path) : QString());
  QPainter painter(&generator);
  renderTo(painter, QRectF(QPointF(0, 0), whole.size()));
  painter.end();
  if (!file.commit()) return cannotWrite(path, file.errorString());
  return Done{};
}

Status GraphView::exportPng(const QString& path, double scale) const {
  if (m->scene->items.empty()) return Diagnostic{.message = "there is no graph to draw", .help = "Open a model first."};
  const QSizeF whole =
      m->scene->bounds.adjusted(-kPictureMargin, -kPictureMargin, kPictureMargin, kPictureMargin).size();
  const double most = kLargestImage / std::max(whole.width(), whole.height());
  const QSize size = (whole * std::min(scale, most)).toSize().expandedTo(QSize(1, 1));
  QImage image(size, QImage::Format_RGB32);
  if (image.isNull())
    return Diagnostic{.message = "the picture is too large for the available memory", .help = "Export as SVG."};
  QPainter painter(&image);
  renderTo(painter, QRectF(QPointF(0, 0), QSizeF(size)));
  painter.end();
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return cannotWrite(path, file.errorString());
  if (!image.save(&file, "PNG") || !file.commit()) return cannotWrite(path, file.errorString());
  return Done{};
}

}  // namespace fusescope
