import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A YARN of one ResourceManager and two NodeManagers in one process, over the local file system.
 *
 * <p>Arguments: a folder, where it writes the configuration that clients need (HADOOP_CONF_DIR) and collects containers' logs.
 * Prints UP when it takes applications, and ends when its standard input does.
 */
public class MiniYarn {
  private static final int MEMORY_MB_PER_NODE = 7168;
  private static final int CORES_PER_NODE = 8;
  private static final String QUEUE = "yarn.scheduler.capacity.root.default.";

  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    Files.createDirectories(folder.resolve("conf"));
    MiniYARNCluster cluster = new MiniYARNCluster("mini", 2, 1, 1);
    cluster.init(configuration(folder));
    cluster.start();
    write(cluster.getConfig(), folder.resolve("conf/yarn-site.xml"));
    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", "file:///");
    write(core, folder.resolve("conf/core-site.xml"));
    System.out.println("UP");
    while (System.in.read() != -1) {}
    cluster.stop();
    System.exit(0); // Threads of the cluster outlive it.
  }

  private static Configuration configuration(Path folder) {
    Configuration made = new YarnConfiguration();
    made.setInt("yarn.nodemanager.resource.memory-mb", MEMORY_MB_PER_NODE);
    made.setInt("yarn.nodemanager.resource.cpu-vcores", CORES_PER_NODE);
    made.setInt("yarn.scheduler.minimum-allocation-mb", 256);
    // Page processes reserve address space that they never touch.
    made.setBoolean("yarn.nodemanager.vmem-check-enabled", false);
    // A disk that is 90% full makes a node "unhealthy", and applications wait for ever.
    made.setFloat("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", 99.5f);
    made.set("yarn.scheduler.capacity.root.queues", "default");
    made.set(QUEUE + "capacity", "100");
    // Of so small a cluster a driver takes more than the tenth that is allowed it.
    made.set(QUEUE + "maximum-am-resource-percent", "0.8");
    made.setBoolean("yarn.log-aggregation-enable", true);
    made.set("yarn.nodemanager.remote-app-log-dir", folder.resolve("logs").toUri().toString());
    return made;
  }

  private static void write(Configuration configuration, Path file) throws IOException {
    try (OutputStream stream = Files.newOutputStream(file)) {
      configuration.writeXml(stream);
    }
  }
}
