// RViz that ends after RVIZ_STATUS_SECONDS, tells every status that is not OK, and ends with code
// 1 if there is one. RVIZ_STATUS_PICTURE names a file for what its window showed.
// Arguments are those of rviz2, such as -d FILE.rviz.

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <QApplication>
#include <QScreen>
#include <QTimer>

#include <rclcpp/rclcpp.hpp>
#include <rviz_common/display_group.hpp>
#include <rviz_common/properties/property.hpp>
#include <rviz_common/properties/status_list.hpp>
#include <rviz_common/properties/status_property.hpp>
#include <rviz_common/ros_integration/ros_client_abstraction.hpp>
#include <rviz_common/visualization_frame.hpp>
#include <rviz_common/visualization_manager.hpp>
#include <rviz_common/visualizer_app.hpp>

using rviz_common::properties::Property;
using rviz_common::properties::StatusList;
using rviz_common::properties::StatusProperty;

namespace
{

/// Count and tell the statuses below a property that are not OK.
int tell_troubles(const Property & property, const std::string & path)
{
  int troubles = 0;
  for (int row = 0; row < property.numChildren(); ++row) {
    Property * child = property.childAt(row);
    const std::string name = path + "/" + child->getNameStd();
    auto * status = dynamic_cast<StatusProperty *>(child);
    if (status && !dynamic_cast<StatusList *>(child) && status->getLevel() != StatusProperty::Ok) {
      std::cerr << name << ": " << status->getValue().toString().toStdString() << std::endl;
      ++troubles;
    }
    troubles += tell_troubles(*child, name);
  }
  return troubles;
}

/// Look at all displays and end.
void look()
{
  if (const char * picture = std::getenv("RVIZ_STATUS_PICTURE")) {
    QGuiApplication::primaryScreen()->grabWindow(0).save(picture);
  }
  for (QWidget * widget : QApplication::topLevelWidgets()) {
    if (auto * frame = dynamic_cast<rviz_common::VisualizationFrame *>(widget)) {
      const int troubles = tell_troubles(*frame->getManager()->getRootDisplayGroup(), "");
      std::cerr << troubles << " statuses are not OK" << std::endl;
      QApplication::exit(troubles ? 1 : 0);
      return;
    }
  }
  std::cerr << "there is no window of RViz" << std::endl;
  QApplication::exit(2);
}

}  // namespace

int main(int argc, char ** argv)
{
  std::vector<std::string> texts = rclcpp::remove_ros_arguments(argc, argv);
  std::vector<char *> arguments;
  for (auto & text : texts) {
    arguments.push_back(text.data());
  }
  int count = static_cast<int>(arguments.size());
  QApplication application(count, arguments.data());
  rviz_common::VisualizerApp rviz(
    std::make_unique<rviz_common::ros_integration::RosClientAbstraction>());
  rviz.setApp(&application);
  if (!rviz.init(argc, argv)) {
    return 2;
  }
  const char * seconds = std::getenv("RVIZ_STATUS_SECONDS");
  QTimer::singleShot(1000 * (seconds ? std::atoi(seconds) : 20), look);
  return application.exec();
}
