#pragma once

#include <QObject>
#include <QTimer>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ui/docks/dock_context.h"
#include "ui/ribbon/ribbon_picture.h"

namespace fusescope {

/// Keeps the picture of the ribbon up to date: of the displayed run and the one that it is compared with, or else of
/// the displayed plan, below further runs that the user added as lanes. Pictures, plans of runs and colours are made
/// off the GUI thread, on which this object is used; while the ribbon is not visible it makes none.
class RibbonSource : public QObject {
  Q_OBJECT

 public:
  explicit RibbonSource(const DockContext& context, QObject* parent = nullptr);

  const std::shared_ptr<const RibbonPicture>& picture() const { return m_picture; }  ///< never null
  const std::vector<std::vector<QRgb>>& colors() const { return m_colors; }          ///< for each lane and kernel
  const QString& problem() const { return m_problem; }  ///< why a lane is missing, for people; empty: none is
  RibbonWidth width() const { return m_width; }
  void setWidth(RibbonWidth width);
  void setColors(const ColorMode& mode, const Theme& theme);
  void setOnScreen(bool onScreen);
  /// Returns whether neither a picture nor colours are being made.
  bool idle() const;

 signals:
  void pictureChanged();
  void colorsChanged();

 private:
  void follow();
  void make(std::vector<LaneRequest> requests);
  void paintAnew();
  std::vector<LaneRequest> requests();
  std::vector<LaneRequest> mainRequests();
  bool isOfModel(const Run& run) const;
  LaneRequest requestOf(const Run& run) const;
  LaneRequest requestOnScreen() const;

  DockContext m_context;
  CanvasFonts m_fonts;
  QTimer m_soon;
  bool m_onScreen = false, m_making = false, m_painting = false;
  RibbonWidth m_width = RibbonWidth::Time;
  const ColorMode* m_mode = colorModes().front();
  Theme m_theme = Theme::dark();
  std::vector<LaneRequest> m_requests;  ///< the requests of the picture, or of the next one
  RibbonWidth m_requestedWidth = RibbonWidth::Time;
  QString m_missing;  ///< why the plan of a run cannot be requested
  std::shared_ptr<const RibbonPicture> m_picture = std::make_shared<RibbonPicture>();
  std::vector<std::vector<QRgb>> m_colors;
  QString m_problem;
  /// The displayed parts of runs' plans, with their identities.
  struct KnownPlan {
    PlannedRun of;
    std::shared_ptr<const PlanSnapshot> plan;
  };
  std::map<std::string, KnownPlan> m_plans;  ///< by run
};

}  // namespace fusescope
